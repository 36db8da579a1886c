"""Variables of TensorFlow and of both Kerases: their names, their shapes, the learning rate they are trained with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.op_table import DEFAULT_NAMES
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


def distinct(names: Iterable[str]) -> list[str]:
    """Every name once: the second `kernel` is `kernel (2)`."""
    taken: dict[str, None] = {}
    for name in names:
        count, free = 1, name
        while free in taken:
            count += 1
            free = f"{name} ({count})"
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
    rate = getattr(source, "learning_rate", source)
    if callable(rate) and not hasattr(rate, "assign"):
        iterations = getattr(source, "iterations", None)
        rate = rate() if iterations is None else rate(iterations)
    return tf.cast(tf.convert_to_tensor(compat.native(rate)), tf.float64)
