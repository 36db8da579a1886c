"""Straight-through: the forward value of a discrete function, the gradient of a smooth one.

Every function here has one promise: its value is *exactly* the discrete one (not up to rounding), and its gradient is
*exactly* the gradient of the surrogate it names. As an estimate of the gradient of the mean loss it is biased, except
where the loss is linear in the discrete value; its variance is that of the surrogate, and zero without sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_callable, check_number, check_whole
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike


def carry(value: Tensor, surrogate: Tensor) -> Tensor:
    """`value`, which must have no gradient of its own, with the gradient of `surrogate`.

    Adding a difference of equals leaves every bit of the value alone.
    """
    return value + (surrogate - tf.stop_gradient(surrogate))


def straight_through(
    function: Callable[..., Any], *, surrogate: Callable[..., Any] | None = None
) -> Callable[..., Tensor]:
    """Wrap any discrete function of one tensor so that the gradient passes: `straight_through(tf.round)(x)`.

    The wrapped function returns `function(x)` in the type of `x`; its gradient is that of `surrogate(x)`, or one where
    no surrogate is given. Nothing inside `function` gets a gradient. Extra arguments go to both.
    """
    check_callable("function", function, help="straight_through(tf.round)(x)", error=ParameterError)
    if surrogate is not None:
        check_callable("surrogate", surrogate, help="surrogate=tf.sigmoid", error=ParameterError)

    def wrapped(x: TensorLike, *args: Any, **options: Any) -> Tensor:
        x = arguments.floating(x, "x")
        smooth = x if surrogate is None else surrogate(x, *args, **options)
        value = tf.cast(function(x, *args, **options), smooth.dtype)
        arguments.check_same_shape(
            value, smooth, "function(x)", "x" if surrogate is None else "surrogate(x)", help=_SHAPE_HELP
        )
        return carry(tf.stop_gradient(value), smooth)

    return wrapped


_SHAPE_HELP = "pass a surrogate that returns the same shape as the function, straight_through(f, surrogate=g)"


@unconverted
def straight_through_round(x: TensorLike) -> Tensor:
    """`tf.round(x)`, with gradient 1."""
    x = arguments.floating(x, "x")
    fixed = tf.stop_gradient(x)
    return tf.round(fixed) + (x - fixed)


@unconverted
def straight_through_sign(x: TensorLike, *, clip: float | None = 1.0) -> Tensor:
    """`tf.sign(x)`, with gradient 1 where `|x| <= clip` and 0 elsewhere; `clip=None`: 1 everywhere.

    The clip keeps weights from growing without an effect on their sign.
    """
    x = arguments.floating(x, "x")
    sign = tf.sign(tf.stop_gradient(x))
    if clip is None:
        return carry(sign, x)
    advice = "pass a positive number, or None for no clip"
    check_number("clip", clip, "a positive number", lambda number: number > 0, help=advice, error=ParameterError)
    return carry(sign, tf.clip_by_value(x, -clip, clip))


@unconverted
def straight_through_onehot(logits: TensorLike, *, temperature: TensorLike = 1.0, axis: int = -1) -> Tensor:
    """The one-hot vector of the largest logit, with the gradient of `softmax(logits / temperature)`."""
    logits, wide, soft = _softened(logits, temperature, axis)
    return arguments.narrowed(onehot_like(wide, soft, axis), logits.dtype)


@unconverted
def straight_through_argmax(logits: TensorLike, *, temperature: TensorLike = 1.0, axis: int = -1) -> Tensor:
    """The position of the largest logit, as a float, with the gradient of the mean position under the softmax.

    For positions that mean something: a pixel, a time, a bucket. For categories take `straight_through_onehot`.
    In half precision whole numbers are exact only up to 2048 (float16) or 256 (bfloat16).
    """
    logits, wide, soft = _softened(logits, temperature, axis)
    places = tf.cast(tf.range(tf.shape(soft)[axis]), soft.dtype)
    mean_place = tf.tensordot(soft, places, [[axis], [0]])
    return arguments.narrowed(carry(tf.cast(tf.argmax(wide, axis), soft.dtype), mean_place), logits.dtype)


@unconverted
def straight_through_top_k(logits: TensorLike, k: int, *, temperature: TensorLike = 1.0) -> Tensor:
    """A mask with ones at the `k` largest logits of the last axis, with the gradient of `k * softmax`.

    Mask and surrogate both sum to `k`. Of equal logits the first are taken, as `tf.math.top_k` does.
    """
    logits, wide, soft = _softened(logits, temperature, -1)
    size = logits.shape[-1]
    check_whole("k", k, help="pass 1 <= k <= entries", error=ParameterError)
    if size is not None and k > size:
        raise ParameterError(f"`k` is {k} and `logits` has {size} entries", help="pass 1 <= k <= entries")
    places = tf.math.top_k(wide, k, sorted=False).indices
    mask = tf.reduce_sum(tf.one_hot(places, _size(wide, -1), dtype=wide.dtype), -2)
    return arguments.narrowed(carry(mask, float(k) * soft), logits.dtype)


def _softened(logits: TensorLike, temperature: TensorLike, axis: int) -> tuple[Tensor, Tensor, Tensor]:
    """The logits as a tensor, the same in float32 at least, and their softmax at a temperature."""
    logits, wide = arguments.categories(logits, axis, "logits")
    return logits, wide, tf.nn.softmax(arguments.cooled(wide, temperature), axis)


def onehot_like(scores: Tensor, surrogate: Tensor, axis: int) -> Tensor:
    """One-hot of the largest score, with the gradient of the surrogate."""
    hot = tf.one_hot(tf.argmax(scores, axis), _size(scores, axis), axis=axis, dtype=surrogate.dtype)
    return carry(hot, surrogate)


def _size(tensor: Tensor, axis: int) -> Any:
    size = None if tensor.shape.rank is None else tensor.shape[axis]
    return tf.shape(tensor)[axis] if size is None else size
