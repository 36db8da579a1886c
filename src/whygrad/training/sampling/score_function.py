"""The score-function estimator (REINFORCE): a gradient through any sample whose log-probability is known."""

from __future__ import annotations

from typing import Literal

import tensorflow as tf

from whygrad.arguments import check_number, check_whole
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike


class MovingAverage(tf.Module):  # type: ignore[misc]  # TensorFlow has no types
    """The exponentially weighted mean cost of the steps *before* this one, which keeps the gradient unbiased.

    Make it once, outside `tf.function`. Its state is two scalar variables that a checkpoint of their owner saves. A
    step whose mean cost is not finite leaves it as it was. The first step has baseline 0.
    """

    def __init__(self, decay: float = 0.99) -> None:
        super().__init__()
        wanted = "from 0 to below 1"
        check_number("decay", decay, wanted, lambda x: 0.0 <= x < 1.0, help="`decay=0.99`", error=ParameterError)
        self.decay = decay
        self.total = self._state("total")
        self.weight = self._state("weight")

    def __call__(self, cost: Tensor) -> Tensor:
        """The baseline for these costs; they enter the average afterwards."""
        cost = arguments.floating(cost, "cost")
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


Baseline = Literal["leave-one-out"] | MovingAverage | TensorLike | None


@unconverted
def score_function(cost: TensorLike, log_prob: TensorLike, *, baseline: Baseline = None, axis: int = 0) -> Tensor:
    """A loss per sample: its value is `cost`, its gradient an unbiased one of the mean cost.

    Both arguments have one entry per sample: `cost` what the sample costs (a reward with its sign turned),
    `log_prob` the logarithm of the sample's probability under the parameters. The sample in `log_prob` must not carry
    a gradient itself: with a reparameterised one the gradient is zero (`draw_categorical` and its like take care of
    it). Where `cost` depends on variables directly, as a decoder's does, that part of the gradient is kept.

    Bias: none, with any baseline that does not look at the same sample: `"leave-one-out"` (the mean of the other
    samples along `axis`), a `MovingAverage` of earlier steps, or your own tensor, such as a critic's output, which is
    stopped here. Variance: high without a baseline, as it grows with the size of the cost, not with its differences.
    """
    check_whole("axis", axis, least=None, error=ParameterError)
    cost = arguments.floating(cost, "cost")
    log_prob = arguments.matching(log_prob, cost, "log_prob", "cost")
    arguments.check_same_shape(cost, log_prob, "cost", "log_prob", help=_SHAPE_HELP)
    wide_cost, wide_log_prob = arguments.widened(cost), arguments.widened(log_prob)
    advantage = wide_cost if baseline is None else wide_cost - _baseline(wide_cost, baseline, axis)
    losses = wide_cost + tf.stop_gradient(advantage) * (wide_log_prob - tf.stop_gradient(wide_log_prob))
    return arguments.narrowed(losses, cost.dtype)


_SHAPE_HELP = (
    "give both one entry per sample; if a sample has several parts, sum their log-probabilities: "
    "tf.reduce_sum(log_prob, axis=-1)"
)


def _baseline(cost: Tensor, baseline: Baseline, axis: int) -> Tensor:
    if isinstance(baseline, MovingAverage):
        return baseline(cost)
    if isinstance(baseline, str):
        if baseline != "leave-one-out":
            raise ParameterError(
                f"`baseline` is {baseline!r}, which is not one of the baselines",
                help="pass 'leave-one-out', a MovingAverage, a tensor or None",
            )
        arguments.check_axis(cost, axis, "cost")
        return _leave_one_out(cost, axis)
    own = tf.cast(arguments.floating(baseline, "baseline"), cost.dtype)
    _check_broadcasts_to(own, cost)
    return own


def _check_broadcasts_to(baseline: Tensor, cost: Tensor) -> None:
    """A baseline that would make the cost larger, [n, 1] against [n], pairs samples with the wrong baselines."""
    if not (baseline.shape.is_fully_defined() and cost.shape.is_fully_defined()):
        return
    try:
        fits = tf.broadcast_static_shape(baseline.shape, cost.shape) == cost.shape
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError(
            f"`baseline` has shape {baseline.shape} and `cost` {cost.shape}",
            help="give the baseline one entry per sample, tf.squeeze(baseline, -1), or a single number",
        )


def _leave_one_out(cost: Tensor, axis: int) -> Tensor:
    """For each sample the mean cost of the others along the axis."""
    samples = cost.shape[axis] if cost.shape.rank is not None else None
    if samples is not None and samples < 2:
        raise ParameterError(
            f"leave-one-out needs at least two samples along axis {axis}, and `cost` has shape {cost.shape}",
            help="draw two or more samples for each input, or pass baseline=MovingAverage()",
        )
    others = tf.cast(tf.shape(cost)[axis], cost.dtype) - 1.0 if samples is None else samples - 1.0
    return (tf.reduce_sum(cost, axis, keepdims=True) - cost) / others
