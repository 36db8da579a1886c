"""Baselines: what is subtracted from a cost before it weighs a score. None of these changes the mean gradient."""

from __future__ import annotations

import tensorflow as tf

from whygrad.training.sampling.arguments import ParameterError, Tensor


class MovingAverage(tf.Module):  # type: ignore[misc]  # TensorFlow has no types
    """The exponentially weighted mean cost of the steps *before* this one, which keeps the gradient unbiased.

    Make it once, outside `tf.function`. Its state is two scalar variables that a checkpoint of their owner saves. A
    step whose mean cost is not finite leaves it as it was. The first step has baseline 0.
    """

    def __init__(self, decay: float = 0.99) -> None:
        super().__init__()
        if not 0.0 <= decay < 1.0:
            raise ParameterError(f"`decay` must lie in [0, 1) and is {decay}", help="pass a number such as 0.99")
        self.decay = decay
        self.total = self._state("total")
        self.weight = self._state("weight")

    def __call__(self, cost: Tensor) -> Tensor:
        """The baseline for these costs; they enter the average afterwards."""
        before = tf.math.divide_no_nan(self.total.read_value(), self.weight.read_value())
        mean = tf.reduce_mean(tf.cast(tf.stop_gradient(cost), tf.float32))
        usable = tf.math.is_finite(mean)
        kept = tf.where(usable, self.decay, 1.0)
        with tf.control_dependencies([before]):
            self.total.assign(kept * self.total + (1.0 - kept) * tf.where(usable, mean, 0.0))
            self.weight.assign(kept * self.weight + (1.0 - kept))
        return tf.cast(before, cost.dtype)

    @staticmethod
    def _state(name: str) -> tf.Variable:
        aggregation = tf.VariableAggregation.MEAN
        return tf.Variable(0.0, trainable=False, name=f"moving_average_{name}", aggregation=aggregation)


def leave_one_out(cost: Tensor, axis: int = 0) -> Tensor:
    """For each sample the mean cost of the others along the axis."""
    samples = cost.shape[axis] if cost.shape.rank is not None else None
    if samples is not None and samples < 2:
        raise ParameterError(
            f"leave-one-out needs at least two samples along axis {axis}, and `cost` has shape {cost.shape}",
            help="draw two or more samples for each input, or pass baseline=MovingAverage()",
        )
    others = tf.cast(tf.shape(cost)[axis], cost.dtype) - 1.0 if samples is None else samples - 1.0
    return (tf.reduce_sum(cost, axis, keepdims=True) - cost) / others
