"""Which estimator suits this loss? Measured, not guessed."""

from whygrad.training.sampling.comparison.compare import compare
from whygrad.training.sampling.comparison.result import Comparison, Interval, Row

__all__ = ["Comparison", "Interval", "Row", "compare"]
