"""How much a micro-batch weighs when Keras trains: what its loss was divided by, read from the training step."""

from __future__ import annotations

import warnings
import weakref
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.errors import AccumulationWarning, MicrobatchWeightError
from whygrad.training.accumulation.arguments import Weigh, as_weight, check_weight
from whygrad.training.accumulation.window import Share


@dataclass(frozen=True, slots=True)
class Divisor:
    """What one loss was divided by: None for a sum; `what` says in words, equal words meaning the same number."""

    value: Any
    what: str


def share_of(weight: str | Weigh, reduction: str, given: Any) -> Share:
    """What this micro-batch counts for: as given, as configured, or as the enclosing `train_step` shows.

    Keras calls the optimizer from inside `Model.train_step(self, data)`. That frame is on the stack, in graph mode
    while the step is traced, and its `data` is the micro-batch: nothing has to be patched to know its size.
    """
    if reduction == "sum":
        return Share(summed=True)
    if given is not None:
        check_weight(given)
        return Share(weight=as_weight(given))
    if weight == "equal":
        return Share()
    step = compat.enclosing_train_step()
    if step is None:
        raise MicrobatchWeightError(
            "the size of this micro-batch is not known: the optimizer was not called from a Keras train_step",
            help="pass weight= to apply_gradients, or weight='equal' to wg.accumulate if all have one size",
        )
    if callable(weight):
        value = weight(*compat.unpack(step.data))
        return Share(weight=tf.cast(value, tf.float64))
    if weight == "auto" and step.predictions is not None:
        return share_of_step(step, reduction)
    return Share(weight=tf.cast(examples(step.data), tf.float64))


def examples(data: Any) -> Any:
    """The number of examples in a batch: the leading dimension of its first input."""
    inputs = compat.unpack(data)[0]
    first = next(tensor for tensor in tf.nest.flatten(inputs) if tensor is not None)
    if isinstance(first, tf.RaggedTensor):
        return first.nrows()
    return first.dense_shape[0] if isinstance(first, tf.SparseTensor) else tf.shape(first)[0]


def share_of_step(step: compat.TrainStep, reduction: str) -> Share:
    """What the batch of a Keras train_step counts for, from the losses that were compiled."""
    divisors = [
        _divisor(loss, target, prediction, sample_weight, step)
        for loss, target, prediction, sample_weight in compat.losses_of(step)
    ]
    if not divisors and any(compat.mask_of(each) is not None for each in tf.nest.flatten(step.predictions)):
        _warn("this Keras does not show its losses, so masked time steps are counted as if they were not")
    sums = [divisor.value is None for divisor in divisors]
    if divisors and all(sums) and reduction == "auto":
        if compat.has_added_losses(step.model):
            _warn("the loss is a sum, and what add_loss or a regularizer adds counts once for each micro-batch")
        return Share(summed=True)
    means = [divisor for divisor in divisors if divisor.value is not None]
    if any(sums):
        _warn("some losses are sums and some are means; all are accumulated as means")
    kinds = sorted({divisor.what for divisor in means})
    if len(kinds) > 1:
        _warn(f"the losses are averaged over different numbers ({', '.join(kinds)}); the first is used for all")
    if kinds != ["examples"] and means and compat.has_activity_losses(step.model):
        _warn("the loss is averaged over unmasked steps or sample weights, what add_loss adds over examples")
    value = means[0].value if means else examples(step.data)
    return Share(weight=tf.cast(value, tf.float64))


def _divisor(loss: Any, target: Any, prediction: Any, sample_weight: Any, step: compat.TrainStep) -> Divisor:
    """What `keras.losses.Loss.__call__` divides by, for each of its reductions."""
    kind = compat.reduction_of(loss)
    mask = compat.mask_of(prediction)
    if kind in ("sum", "none"):
        return Divisor(None, "sum")
    if kind == "mean_with_sample_weight" and sample_weight is not None:
        weights = tf.cast(sample_weight, tf.float64)
        if mask is not None:
            weights = _same_rank(weights, mask) * tf.cast(mask, tf.float64)
        return Divisor(tf.reduce_sum(weights), "sample weights")
    if mask is not None:
        return Divisor(tf.math.count_nonzero(mask, dtype=tf.float64), f"unmasked steps of {id(mask)}")
    rank = _loss_rank(loss, target, prediction)
    if rank < 2:
        return Divisor(examples(step.data), "examples")
    return Divisor(tf.reduce_prod(tf.shape(prediction, tf.int64)[:rank]), "examples")


def _same_rank(weights: Any, mask: Any) -> Any:
    missing = mask.shape.rank - weights.shape.rank
    return (
        tf.reshape(weights, tf.concat([tf.shape(weights), tf.ones([missing], tf.int32)], 0)) if missing > 0 else weights
    )


_RANKS: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], int]] = weakref.WeakKeyDictionary()


def _loss_rank(loss: Any, target: Any, prediction: Any) -> int:
    """How many dimensions the loss has before it is reduced: 1 for one number an example, 2 for one a time step."""
    if prediction.shape.rank is None or prediction.shape.rank < 3 or not hasattr(loss, "call"):
        return 1
    known = _RANKS.setdefault(loss, {})
    key = (prediction.shape.rank, target.shape.rank)
    if key not in known:
        known[key] = _traced_rank(loss, target, prediction)
    return known[key]


def _traced_rank(loss: Any, target: Any, prediction: Any) -> int:
    def spec(tensor: Any) -> tf.TensorSpec:
        return tf.TensorSpec(tensor.shape, tensor.dtype)

    try:
        with tf.init_scope():
            traced = tf.function(loss.call, autograph=False).get_concrete_function(spec(target), spec(prediction))
        return int(traced.structured_outputs.shape.rank)
    except Exception:  # a loss that cannot be traced alone is taken for one number an example
        return 1


def _warn(message: str) -> None:
    warnings.warn(f"{message}: the update will differ from the big batch's", AccumulationWarning, stacklevel=2)
