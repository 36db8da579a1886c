"""Checks on the parameters of an estimator: what can be known now is checked now, in eager code and while tracing."""

from __future__ import annotations

from numbers import Integral
from typing import Any, cast

import numpy as np
import tensorflow as tf

from whygrad.arguments import check_whole, given
from whygrad.errors import UsageError

Tensor = Any  # tf.Tensor: TensorFlow ships no types
TensorLike = Any  # a tensor, a variable, an array, a number or a nest of numbers

HALF = (tf.float16, tf.bfloat16)


class ParameterError(UsageError, ValueError):
    """A parameter of an estimator lies outside what the estimator is defined for."""

    ag_pass_through = True  # asks AutoGraph to raise it as it is; it would become a StagingError


def floating(value: TensorLike, name: str) -> Tensor:
    """The value as a floating-point tensor. Plain Python integers count as floats, integer tensors are an error."""
    if isinstance(value, tf.Tensor) and value.dtype.is_floating:
        return value
    if type(value).__name__ == "KerasTensor":
        raise ParameterError(
            f"`{name}` is a symbolic Keras tensor, not a value",
            help="call the estimator inside a layer: in `Layer.call`, or through `keras.layers.Lambda`",
        )
    is_array = hasattr(value, "dtype")
    tensor = as_tensor(value, name, None if is_array else tf.float32)
    if not tensor.dtype.is_floating:
        raise ParameterError(
            f"`{name}` is {tensor.dtype.name}, and only floating-point values carry a gradient",
            help=f"pass tf.cast({name}, tf.float32)",
        )
    return tensor


def as_tensor(value: TensorLike, name: str, hint: Any = None) -> Tensor:
    """The value as a tensor of numbers, preferably of the type of the hint."""
    try:
        tensor = tf.convert_to_tensor(value, dtype_hint=hint)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype == tf.string:
        raise ParameterError(
            f"`{name}` must be a tensor, got {given(value)}", help=f"pass `tf.constant(...)` as `{name}`"
        )
    return tensor


def matching(value: TensorLike, other: Tensor, name: str, other_name: str) -> Tensor:
    """The value as a tensor of the other's type."""
    if not hasattr(value, "dtype"):
        return tf.cast(as_tensor(value, name, other.dtype), other.dtype)
    tensor = floating(value, name)
    if tensor.dtype != other.dtype:
        raise ParameterError(
            f"`{name}` is {tensor.dtype.name} and `{other_name}` is {other.dtype.name}",
            help=f"cast one to the type of the other: tf.cast({name}, {other_name}.dtype)",
        )
    return tensor


def widened(tensor: Tensor) -> Tensor:
    """Half precision as float32; anything else as it is."""
    return tf.cast(tensor, tf.float32) if tensor.dtype in HALF else tensor


def narrowed(tensor: Tensor, dtype: Any) -> Tensor:
    """The tensor in the type it came in."""
    return tensor if tensor.dtype == dtype else tf.cast(tensor, dtype)


def known_value(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """The value, where it can be had without waiting for an accelerator or for the traced function to run."""
    if tf.is_symbolic_tensor(tensor):
        return cast("np.ndarray[Any, Any] | None", tf.get_static_value(tensor))
    return tensor.numpy() if "CPU" in tensor.device else None


def check_positive(tensor: Tensor, name: str, *, help: str) -> None:
    """Raise if an element is known to be zero, negative, infinite or NaN."""
    value = known_value(tensor)
    if value is None or value.size == 0:
        return
    low, high = value.min(), value.max()  # NaN comes out of both
    if low > 0 and high < np.inf:
        return
    if np.isnan(low):
        raise ParameterError(f"`{name}` is NaN", help=help)
    if low > 0:
        raise ParameterError(f"`{name}` is infinite", help=help)
    what = "zero" if low == 0 else f"negative ({low:g})"
    raise ParameterError(f"`{name}` must be positive and is {what}", help=help)


def cooled(tensor: Tensor, temperature: TensorLike) -> Tensor:
    """The tensor divided by the temperature, which is checked."""
    if isinstance(temperature, int | float) and 0.0 < temperature < np.inf:
        return tensor if temperature == 1.0 else tensor / temperature
    temperature = tf.cast(floating(temperature, "temperature"), tensor.dtype)
    check_broadcasts(temperature, tensor, "temperature", "logits")
    check_positive(
        temperature,
        "temperature",
        help="pass a positive number, such as 0.5; for samples that are exactly one-hot pass hard=True",
    )
    return tensor / temperature


def check_axis(tensor: Tensor, axis: int, name: str) -> None:
    """Raise if the axis is known not to be there, or to be empty."""
    check_whole("axis", axis, least=None, help="the last axis is -1", error=ParameterError)
    rank = tensor.shape.rank
    if rank is None:
        return
    if not -rank <= axis < rank:
        raise ParameterError(
            f"`{name}` has {rank} dimensions, so it has no axis {axis}",
            help=f"pass {name} with one entry per category along `axis`",
        )
    if tensor.shape[axis] == 0:
        raise ParameterError(f"`{name}` has no categories: its shape is {tensor.shape}", help="pass at least one")


def categories(value: TensorLike, axis: int, name: str) -> tuple[Tensor, Tensor]:
    """The value as a tensor with a category for each entry along the axis, and the same in float32 at least."""
    tensor = floating(value, name)
    check_axis(tensor, axis, name)
    return tensor, widened(tensor)


def check_broadcasts(tensor: Tensor, other: Tensor, name: str, other_name: str) -> None:
    """Raise if two shapes are known not to go together."""
    if not (tensor.shape.is_fully_defined() and other.shape.is_fully_defined()):
        return
    try:
        tf.broadcast_static_shape(tensor.shape, other.shape)
    except ValueError:
        raise ParameterError(
            f"`{name}` has shape {tensor.shape} and `{other_name}` {other.shape}, which do not broadcast",
            help="give both one entry per element of the sample",
        ) from None


def check_sample_shape(shape: Any) -> tuple[int, ...]:
    """The shape as a tuple of whole numbers."""
    sizes = list(shape) if isinstance(shape, list | tuple | tf.TensorShape) else None
    if sizes is None or not all(isinstance(size, Integral) and int(size) >= 0 for size in sizes):
        raise ParameterError(
            f"`sample_shape` must be a list of whole numbers, got {given(shape)}", help="sample_shape=(16,) draws 16"
        )
    return tuple(int(size) for size in sizes)


def check_same_shape(tensor: Tensor, other: Tensor, name: str, other_name: str, *, help: str) -> None:
    """Raise if two shapes are known to differ, also where they would broadcast."""
    if not tensor.shape.is_compatible_with(other.shape):
        raise ParameterError(f"`{name}` has shape {tensor.shape} and `{other_name}` {other.shape}", help=help)
