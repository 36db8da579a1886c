"""`summarize`: how big the gradients are, by variable, layer, model, pattern or a function of yours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

import tensorflow as tf

from whygrad.arguments import given
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.backends.tensorflow.measure.statistics import Columns, measure, norms
from whygrad.errors import UsageError
from whygrad.training.summary.table import Summary
from whygrad.training.variables import (
    check_lengths,
    check_variable,
    current_rate,
    distinct,
    fits,
    gradient_list,
    is_variable,
    shape_of,
    shown_name,
    top_level,
)

By = str | re.Pattern[str] | Callable[[Any], str]
OTHER: Final = "(other)"
_GROUPINGS: Final = 'group by "variable", "layer", "model", "total", a regular expression or a function'
_GRADIENTS: Final = "pass what `tape.gradient(loss, variables)` returned, and the variables"


@unconverted
def summarize(gradients: Any, variables: Any = None, by: By = "variable", *, learning_rate: Any = None) -> Summary:
    """Sum, norm, mean, extremes, zeros and non-finite elements of gradients, read once each and never joined.

    Args:
        gradients: what `tape.gradient` returned: tensors, slices or None, in a list or a dict; or
            `(gradient, variable)` pairs.
        variables: the variables they belong to, in the same order; they give the rows their names.
        by: a row for each `"variable"`, `"layer"`, `"model"` (the parts of the outermost model) or `"total"`; any other
            text is a regular expression whose first group (or whole match) names the row, and it must match at least
            one variable; or a function of a variable.
        learning_rate: a number, or the optimizer: adds `update_ratio`, learning rate x norm / weight norm, which is
            the relative change that plain gradient descent would make.
    """
    grads, holders, names = _aligned(gradients, variables)
    columns = measure(grads)
    labels, label = _labels(by, names, holders)
    rows = tuple(dict.fromkeys(labels))
    members = [rows.index(each) for each in labels]
    present = [i for i, gradient in enumerate(grads) if gradient is not None]
    fold = _Fold(members, present, len(rows))
    folded = _folded(columns, fold)
    if learning_rate is not None:
        folded["update_ratio"] = _update_ratio(learning_rate, [holders[i] for i in present], fold, folded["norm"])
    return Summary(
        label=label,
        names=rows,
        variables=tuple(members.count(i) for i in range(len(rows))),
        missing=tuple(sum(grads[j] is None for j, row in enumerate(members) if row == i) for i in range(len(rows))),
        columns=folded,
    )


def _aligned(gradients: Any, variables: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Gradients, the variables they belong to (or None), and names; one of each for each gradient."""
    if isinstance(gradients, str | type) or not isinstance(gradients, Iterable):
        raise UsageError(f"`gradients` must be a list or a dict of gradients, got {given(gradients)}", help=_GRADIENTS)
    # An iterator, such as `zip`, is the list of what it gives.
    gradients, variables = (list(each) if isinstance(each, Iterator) else each for each in (gradients, variables))
    if isinstance(gradients, Mapping) and variables is None:
        return list(gradients.values()), [None] * len(gradients), [str(key) for key in gradients]
    if variables is None and _is_pairs(gradients):
        gradients, variables = zip(*gradients, strict=True) if gradients else ((), ())
    grads = gradient_list(tf.nest.flatten(gradients))
    holders = [None] * len(grads) if variables is None else _holders(variables)
    check_lengths(grads, holders)
    for gradient, holder in zip(grads, holders, strict=True):
        if is_variable(holder) and not fits(gradient, holder):
            raise UsageError(
                f"the gradient of `{shown_name(holder)}` has shape {tuple(gradient.shape)}, "
                f"the variable {shape_of(holder)}",
                help="gradients and variables must come in the same order",
            )
    return grads, holders, distinct([_name(holder, i) for i, holder in enumerate(holders)])


def _holders(variables: Any) -> list[Any]:
    """The variables, or their names, in any structure."""
    if hasattr(variables, "trainable_variables"):
        raise UsageError(
            f"`variables` must be a list of variables, got {given(variables)}", help="pass `model.trainable_variables`"
        )
    found = list(tf.nest.flatten(variables))
    for each in found:
        if not isinstance(each, str) and not hasattr(each, "dtype"):
            check_variable(each)
    return found


def _is_pairs(gradients: Any) -> bool:
    return isinstance(gradients, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and (isinstance(pair[1], str) or hasattr(pair[1], "assign"))
        for pair in gradients
    )


def _name(holder: Any, position: int) -> str:
    if isinstance(holder, str):
        return holder
    return shown_name(holder) if hasattr(holder, "name") else f"gradient {position}"


def _labels(by: By, names: list[str], holders: list[Any]) -> tuple[list[str], str]:
    """The row that each gradient goes to, and what a row is."""
    if not isinstance(by, str | re.Pattern | type) and callable(by):
        shown = [name if holder is None else holder for name, holder in zip(names, holders, strict=True)]
        return [str(by(each)) for each in shown], "group"
    if isinstance(by, type) or not isinstance(by, str | re.Pattern):
        raise UsageError(f"`by` cannot be {given(by)}", help=_GROUPINGS)
    if by == "variable":
        return names, "variable"
    if by == "layer":
        return [name.rpartition("/")[0] or name for name in names], "layer"
    if by == "model":
        return top_level(names), "model"
    if by == "total":
        return ["all"] * len(names), "group"
    rows = [_match(by, name) for name in names]
    if rows and set(rows) == {OTHER}:
        pattern = getattr(by, "pattern", by)
        raise UsageError(
            f"`by={pattern!r}` is not a grouping, and as a pattern it matches no variable", help=_GROUPINGS
        )
    return rows, "group"


def _match(pattern: str | re.Pattern[str], name: str) -> str:
    try:
        found = re.search(pattern, name)
    except re.error as error:
        raise UsageError(
            f"`by={pattern!r}` is neither a grouping nor a regular expression: {error}", help=_GROUPINGS
        ) from error
    if found is None:
        return OTHER
    return found.group(1) if found.groups() and found.group(1) is not None else found.group(0)


def _folded(columns: Columns, fold: _Fold) -> dict[str, Tensor]:
    """Per-gradient statistics as those of the rows and, last, of the total."""
    picked: dict[str, Any] = {
        field.name: None if (column := getattr(columns, field.name)) is None else tf.gather(column, fold.present)
        for field in fields(Columns)
    }
    size = fold.add(picked["size"])
    empty = picked["size"] == 0
    total = fold.add(picked["sum"])
    minimum = fold.least(picked["minimum"], empty)
    maximum = -fold.least(-picked["maximum"], empty)
    if picked["imaginary"] is not None:
        total = tf.complex(total, fold.add(picked["imaginary"]))
    folded = {
        "size": size,
        "sum": total,
        "norm": fold.length(picked["norm"]),
        "mean": total / tf.cast(size, total.dtype),
        "minimum": minimum,
        "maximum": maximum,
        "absolute_maximum": tf.maximum(tf.abs(minimum), tf.abs(maximum)),
        "zero_fraction": fold.add(picked["zeros"]) / size,
        "nonfinite": fold.add(picked["nonfinite"]),
    }
    return {key: fold.only_filled(column) for key, column in folded.items()}


class _Fold:
    """Combines numbers of gradients into numbers of rows; the row after the last is all of them together."""

    def __init__(self, members: list[int], present: list[int], rows: int) -> None:
        here = [members[i] for i in present]
        self.present = tf.constant(present, tf.int32)
        self.members = tf.constant([*here, *([rows] * len(here))], tf.int32)
        self.rows = rows + 1
        self.filled = [*(i in here for i in range(rows)), bool(here)]

    def only_filled(self, column: Tensor) -> Tensor:
        """NaN in the rows whose gradients are all missing."""
        return tf.where(self.filled, column, tf.cast(float("nan"), column.dtype))

    def add(self, column: Tensor) -> Tensor:
        return tf.math.unsorted_segment_sum(self._twice(column), self.members, self.rows)

    def least(self, column: Tensor, empty: Tensor) -> Tensor:
        """The minimum; NaN where one is NaN or there are no elements."""
        inf, nan = tf.cast(float("inf"), column.dtype), tf.cast(float("nan"), column.dtype)
        lost = tf.math.is_nan(column) & ~empty
        least = tf.math.unsorted_segment_min(self._twice(tf.where(empty | lost, inf, column)), self.members, self.rows)
        filled = self.add(tf.cast(~empty, column.dtype)) > 0
        return tf.where((self.add(tf.cast(lost, column.dtype)) > 0) | ~filled, nan, least)

    def length(self, norm: Tensor) -> Tensor:
        """The norm of vectors put end to end, without squaring what would overflow."""
        largest = tf.math.unsorted_segment_max(self._twice(norm), self.members, self.rows)
        unit = tf.where(tf.math.is_finite(largest) & (largest > 0), largest, tf.ones_like(largest))
        scaled = self._twice(norm) / tf.gather(unit, self.members)
        return tf.sqrt(tf.math.unsorted_segment_sum(scaled * scaled, self.members, self.rows)) * unit

    def _twice(self, column: Tensor) -> Tensor:
        return tf.concat([column, column], 0)


def _update_ratio(learning_rate: Any, holders: list[Any], fold: _Fold, norm: Tensor) -> Tensor:
    if any(isinstance(holder, str) or holder is None for holder in holders):
        raise UsageError("`learning_rate` needs the variables", help="pass `summarize(gradients, variables, ...)`")
    weights = norms([compat.native(holder) for holder in holders])
    return current_rate(learning_rate) * norm / fold.length(weights)
