"""How the temperature of a relaxation falls during training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.training.sampling.arguments import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureSchedule:
    """`start` at step 0, halved every `half_life` steps, never below `floor`.

    Call it with the step: a number gives a number, a tensor or variable a float32 tensor. In a compiled step pass the
    step as a tensor or variable (`optimizer.iterations`): a Python number would be traced into the function.
    """

    start: float = 1.0
    floor: float = 0.3
    half_life: float = 1000.0

    def __post_init__(self) -> None:
        if not (0.0 < self.floor <= self.start < float("inf") and self.half_life > 0.0):
            raise ParameterError(
                f"a temperature cannot fall from {self.start} to {self.floor} with a half-life of {self.half_life}",
                help="pass 0 < floor <= start and a positive half_life",
            )

    def __call__(self, step: Any) -> Any:
        if isinstance(step, int | float):
            return max(self.floor, self.start * 0.5 ** (step / self.half_life))
        elapsed = tf.cast(step, tf.float32) / self.half_life
        return tf.maximum(self.start * tf.pow(0.5, elapsed), self.floor)
