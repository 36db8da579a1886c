"""Many independent gradient estimates of one loss, and the exact gradient where the samples can be listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.training.sampling.arguments import ParameterError, Tensor
from whygrad.training.sampling.comparison.family import Costs, Estimator, Family

Array = np.ndarray[Any, np.dtype[np.float64]]
Loss = Callable[[Tensor], Tensor]

_ELEMENTS_AT_ONCE = 2**18


@dataclass(frozen=True, slots=True)
class Estimates:
    gradients: Array  # [samples, size of all parameters]
    evaluations: float  # calls of the loss for one estimate
    unreached: bool = False  # no gradient at all came back: the path is cut


def estimates(
    estimator: Estimator, loss: Loss, parameters: Any, event: tuple[int, ...], samples: int, seed: Tensor
) -> Estimates:
    """One gradient per sample, by giving each its own copy of the parameters in one batch."""
    size = sum(int(np.prod(p.shape)) for p in tf.nest.flatten(parameters))
    rows = min(samples, max(1, _ELEMENTS_AT_ONCE // size))
    calls: list[int] = []
    costs = _vectorized(loss, event, calls)

    def block(pair: Tensor) -> list[Tensor | None]:
        copies = tf.nest.map_structure(lambda p: tf.repeat(p[tf.newaxis], rows, 0), parameters)
        flat = tf.nest.flatten(copies)
        with tf.GradientTape() as tape:
            tape.watch(flat)
            total = tf.reduce_sum(estimator(costs, copies, pair))
        found = tape.gradient(total, flat)
        reached.append(any(g is not None for g in found))
        return [tf.zeros_like(p) if g is None else tf.convert_to_tensor(g) for g, p in zip(found, flat, strict=True)]

    reached: list[bool] = []
    # Called as a graph: TensorFlow takes one function for each estimator for one that is traced again and again.
    compiled = tf.function(block, autograph=False).get_concrete_function(tf.TensorSpec((2,), seed.dtype))
    blocks = []
    for start in range(0, samples, rows):
        parts = [part.numpy().reshape(rows, -1) for part in compiled(tf.random.fold_in(seed, start))]
        blocks.append(np.concatenate(parts, 1).astype(np.float64))
    gradients = np.concatenate(blocks)[:samples]
    return Estimates(gradients, sum(calls) / rows, unreached=not reached[0])


def _vectorized(loss: Loss, event: tuple[int, ...], calls: list[int]) -> Costs:
    """The user's loss of one sample, for any number of samples in front; notes how many were asked for."""

    def costs(samples: Tensor) -> Tensor:
        front = samples.shape[: samples.shape.rank - len(event)]
        flat = tf.reshape(samples, [-1, *event])
        calls.append(flat.shape[0])
        return tf.reshape(tf.vectorized_map(lambda sample: _scalar(loss(sample)), flat), front)

    return costs


def _scalar(cost: Tensor) -> Tensor:
    cost = tf.convert_to_tensor(cost)
    if cost.shape.rank != 0:
        raise ParameterError(
            f"`loss` returned shape {cost.shape} for one sample, not a number",
            help="return a scalar for one sample of the shape of the parameters: tf.reduce_mean(...)",
        )
    return cost


def exact(family: Family, loss: Loss, parameters: Any, event: tuple[int, ...], dtype: Any) -> Array | None:
    """The gradient of the mean loss by going through every possible sample; None where there are too many."""
    support = family.support(event)
    if support is None:
        return None
    samples = np.stack(support)
    wide = tf.nest.map_structure(lambda p: tf.cast(p, tf.float64), parameters)
    costs = tf.cast(_vectorized(loss, event, [])(tf.constant(samples, dtype)), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(wide)
        mean = tf.reduce_sum(tf.exp(family.log_prob(wide, tf.constant(samples, tf.float64))) * costs)
    return np.concatenate([g.numpy().reshape(-1) for g in tf.nest.flatten(tape.gradient(mean, wide))])
