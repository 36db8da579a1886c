"""Variables of TensorFlow and of both Kerases: their names, their shapes, the learning rate they are trained with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.arguments import given, listed
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import DEFAULT_NAMES
from whygrad.errors import UsageError, WhygradError
from whygrad.source.holder import name_on_stack


def name_of(variable: Any) -> str:
    """`encoder/dense/kernel`: the Keras path where there is one."""
    return str(getattr(variable, "path", None) or getattr(variable, "name", "variable")).split(":")[0]


def shown_name(variable: Any) -> str:
    """The name, or where the variable was given none, the Python name that holds it in the code that asks."""
    name = name_of(variable)
    return (name_on_stack(variable) or name) if name in DEFAULT_NAMES else name


def shape_of(variable: Any) -> tuple[int, ...]:
    """The shape that a variable has now, also where it may change."""
    shape = tf.TensorShape(variable.shape)
    if not shape.is_fully_defined():
        with tf.init_scope():
            shape = tf.TensorShape(variable.read_value().shape)
    return tuple(shape.as_list())


def is_variable(thing: Any) -> bool:
    """Whether this is a variable of TensorFlow or of a Keras, and not the class of one."""
    return hasattr(thing, "assign") and hasattr(thing, "shape") and not isinstance(thing, type)


def check_variable(
    thing: Any,
    error: type[WhygradError] = UsageError,
    help: str = "pass variables, such as `model.trainable_variables`; gradients come first",
) -> None:
    """Raise unless this is a variable."""
    if not is_variable(thing):
        raise error(f"expected a variable, got {given(thing)}", help=help)


def variable_list(variables: Any, error: type[WhygradError] = UsageError) -> list[Any]:
    """The variables that were handed over as a list, each checked; a model is none."""
    one = "trainable_variables" if hasattr(variables, "trainable_variables") else "variables"
    found = listed("variables", variables, "variables", help=f"pass `model.{one}`", error=error)
    for each in found:
        check_variable(each, error)
    return found


def gradient_list(gradients: Any, error: type[WhygradError] = UsageError) -> list[Any]:
    """The gradients that were handed over as a list: tensors, slices or None."""
    advice = "pass what `tape.gradient(loss, variables)` returned, and give it a list of variables"
    found = listed("gradients", gradients, "gradients", help=advice, error=error)
    for each in found:
        if each is not None and not hasattr(each, "shape"):
            raise error(f"expected a gradient, got {given(each)}", help=advice)
    return found


def check_lengths(gradients: list[Any], variables: list[Any]) -> None:
    """Raise unless there is one gradient for each variable."""
    if len(gradients) != len(variables):
        raise UsageError(
            f"{len(gradients)} gradients do not match {len(variables)} variables",
            help="pass the variables that the gradients were asked for, in the same order",
        )


def fits(gradient: Any, variable: Any) -> bool:
    """Whether a gradient, or None, has the shape of a variable, as far as shapes are known."""
    if gradient is None:
        return True
    if hasattr(gradient, "indices"):  # IndexedSlices: its shape is the table's, if known at all
        return bool(tf.TensorShape(gradient.values.shape)[1:].is_compatible_with(shape_of(variable)[1:]))
    return bool(tf.TensorShape(gradient.shape).is_compatible_with(shape_of(variable)))


def distinct(names: Iterable[str]) -> list[str]:
    """Every name once: the second `kernel` is `kernel (2)`."""
    taken: dict[str, None] = {}
    counts: dict[str, int] = {}  # the last number that each name was given
    for name in names:
        count, free = counts.get(name, 1), name
        while free in taken:
            count += 1
            free = f"{name} ({count})"
        counts[name] = count
        taken[free] = None
    return list(taken)


def top_level(paths: Sequence[str]) -> list[str]:
    """The first part of each path below what all of them share: the sub-models of a model."""
    split = [path.split("/")[:-1] or [path] for path in paths]
    shortest = min((len(parts) for parts in split), default=1)
    depth = 0
    while depth < shortest - 1 and len({parts[depth] for parts in split}) == 1:
        depth += 1
    return [parts[depth] for parts in split]


def current_rate(source: Any) -> Any:
    """The learning rate that a number, an optimizer or its schedule stands for now, as a float64 tensor."""
    is_rate = isinstance(source, int | float) or hasattr(source, "dtype") or callable(source)
    if isinstance(source, str | type) or not (is_rate or hasattr(source, "learning_rate")):
        raise UsageError(
            f"`learning_rate` must be a number or an optimizer, got {given(source)}", help="pass the optimizer itself"
        )
    rate = getattr(source, "learning_rate", source)
    if callable(rate) and not hasattr(rate, "assign"):
        iterations = getattr(source, "iterations", None)
        rate = rate() if iterations is None else rate(iterations)
    return tf.cast(tf.convert_to_tensor(compat.native(rate)), tf.float64)
