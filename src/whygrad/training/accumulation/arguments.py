"""What `steps` and `weight` may be."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from whygrad.errors import AccumulationError, MicrobatchWeightError

_WEIGHT_HELP = "the weight is how many examples or tokens the loss was averaged over"
_WEIGHT_RULE = "the weight of a micro-batch must be positive and finite"


def check_steps(steps: Any) -> None:
    """Raise unless `steps` is a whole number of at least one."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise AccumulationError(
            f"steps must be a whole number of at least 1, got {steps!r}",
            help="steps is how many micro-batches make one update",
        )


def check_weight(weight: Any) -> None:
    """Raise unless a weight is a positive, finite number; what only the running graph knows is checked as it runs."""
    known = tf.get_static_value(weight) if tf.is_tensor(weight) else weight
    if known is None and weight.shape.rank in (0, None):
        return
    try:
        number = float(known)
    except (TypeError, ValueError):
        got = f"shape {tuple(weight.shape)}" if hasattr(weight, "shape") else repr(weight)
        raise MicrobatchWeightError(
            f"the weight of a micro-batch must be one number, got {got}", help=_WEIGHT_HELP
        ) from None
    if not math.isfinite(number) or number <= 0:
        raise MicrobatchWeightError(f"{_WEIGHT_RULE}, got {number:g}", help=_WEIGHT_HELP)


def as_weight(weight: Any) -> Any:
    """The weight as float64; in a graph it stops the step, before anything is added, if it is not positive."""
    value = tf.cast(weight, tf.float64)
    if tf.get_static_value(value) is not None:
        return value
    good = tf.logical_and(value > 0.0, tf.math.is_finite(value))
    with tf.control_dependencies([in_graph_check(good, _WEIGHT_RULE, value)]):
        return tf.identity(value)


def in_graph_check(condition: Any, message: str, value: Any) -> Any:
    """An op that stops the step unless `condition` holds. `tf.debugging.Assert` would build a branch around it."""
    return tf.raw_ops.Assert(condition=condition, data=[message, value])


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise AccumulationError(f"{name} cannot be {value!r}", help=f"{name} is one of {listed}")
