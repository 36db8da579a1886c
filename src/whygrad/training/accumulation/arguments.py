"""What a user may ask of an accumulation: its settings, and what each may be."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.arguments import check_choice, check_whole
from whygrad.errors import AccumulationError, MicrobatchWeightError

Weigh = Callable[[Any, Any, Any], Any]  # x, y, sample_weight -> a number

_WEIGHT_HELP = "the weight is how many examples or tokens the loss was averaged over"
_WEIGHT_RULE = "the weight of a micro-batch must be positive and finite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to accumulate; `wg.accumulate` explains each."""

    steps: int
    partial: str = "apply"
    weight: str | Weigh = "auto"
    reduction: str = "auto"
    nonfinite: str = "window"
    buffer_dtype: str | None = None

    def __post_init__(self) -> None:
        check_steps(self.steps)
        choose = functools.partial(check_choice, error=AccumulationError)
        choose("partial", self.partial, ("apply", "carry", "drop"))
        choose("reduction", self.reduction, ("auto", "mean", "sum"))
        choose("nonfinite", self.nonfinite, ("window", "microbatch"))
        if not callable(self.weight) or isinstance(self.weight, type):
            choose("weight", self.weight, ("auto", "examples", "equal"))
        choose("buffer_dtype", self.buffer_dtype, (None, "float32", "float64"))


def check_steps(steps: Any) -> None:
    """Raise unless `steps` is a whole number of at least one."""
    check_whole("steps", steps, help="`steps` is how many micro-batches make one update", error=AccumulationError)


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
