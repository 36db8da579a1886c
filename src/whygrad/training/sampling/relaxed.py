"""Relaxed discrete samples: Gumbel-softmax for categories, its two-category twin for bits.

Soft samples lie inside the simplex. Their gradient is an exact, unbiased one of a *different* loss, the mean over soft
samples, so as a gradient of the true mean loss it is biased at every temperature; the bias goes to 0 with the
temperature, while the variance grows as 1 / temperature. Hard samples (`hard=True`) are exactly one-hot and drawn from
the true distribution (to the resolution of a float32 uniform, 2**-23), so the loss is the true one; their gradient is
that of the soft sample and stays biased, except where the loss is linear and the temperature goes to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_number
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments, noise
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike
from whygrad.training.sampling.straight_through import carry, onehot_like


@unconverted
def gumbel_softmax(
    logits: TensorLike, temperature: TensorLike = 1.0, *, hard: bool = False, axis: int = -1, seed: noise.Seed = None
) -> Tensor:
    """A relaxed one-hot sample from `softmax(logits)`: `softmax((logits + gumbel) / temperature)`.

    `logits` need not be normalised. `hard=True` gives an exact one-hot vector with the soft sample's gradient. The
    temperature may be a tensor: see `TemperatureSchedule`. Half precision is computed in float32.
    """
    logits, wide = arguments.categories(logits, axis, "logits")
    noisy = wide + noise.gumbel(noise.shape_of(wide), wide.dtype, seed)
    soft = tf.nn.softmax(arguments.cooled(noisy, temperature), axis)
    return arguments.narrowed(onehot_like(noisy, soft, axis) if hard else soft, logits.dtype)


@unconverted
def relaxed_bernoulli(
    logits: TensorLike, temperature: TensorLike = 1.0, *, hard: bool = False, seed: noise.Seed = None
) -> Tensor:
    """A relaxed bit with probability `sigmoid(logits)` of being 1: `sigmoid((logits + logistic) / temperature)`.

    `hard=True` gives exactly 0 or 1 with the soft sample's gradient. Half precision is computed in float32.
    """
    logits = arguments.floating(logits, "logits")
    wide = arguments.widened(logits)
    noisy = noise.plus_logistic(wide, noise.shape_of(wide), seed)
    soft = tf.sigmoid(arguments.cooled(noisy, temperature))
    return arguments.narrowed(carry(tf.cast(noisy > 0, wide.dtype), soft) if hard else soft, logits.dtype)


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
        for name in ("start", "floor", "half_life"):
            check_number(
                name, getattr(self, name), "a positive number", lambda number: number > 0, error=ParameterError
            )
        if not (0.0 < self.floor <= self.start < float("inf") and self.half_life > 0.0):
            raise ParameterError(
                f"a temperature cannot fall from {self.start} to {self.floor} with a half-life of {self.half_life}",
                help="pass 0 < floor <= start and a positive half_life",
            )

    def __call__(self, step: Any) -> Any:
        if isinstance(step, int | float):
            return max(self.floor, self.start * 0.5 ** (step / self.half_life))
        elapsed = tf.cast(arguments.as_tensor(step, "step"), tf.float32) / self.half_life
        return tf.maximum(self.start * tf.pow(0.5, elapsed), self.floor)
