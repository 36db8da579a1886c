"""Which estimator suits this loss? Measured, not guessed."""

from whygrad.backends.tensorflow.sampling.comparison.compare import compare
from whygrad.backends.tensorflow.sampling.comparison.result import Comparison, Interval, Row

__all__ = ["Comparison", "Interval", "Row", "compare"]
