"""What the expression that raised was given, of variables and gradients, and what else the framework knows of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.failures import missing_name, refused_positions
from whygrad.backends.tensorflow.log.op_table import ACTIONS
from whygrad.backends.tensorflow.log.updates import Updates
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import Failure, Held, VariableId

_MOST = 4096  # elements of a list


def held_in(book: VariableBook, updates: Updates, value: Any) -> tuple[Held, ...] | None:
    """One for each element of a list; None where nothing in it is a variable or a gradient."""
    if isinstance(value, dict):
        value = list(value.values())
    values = list(value[:_MOST]) if isinstance(value, (list, tuple)) else [value]
    found = tuple(_held(book, updates, each) for each in values)
    return found if any(each != Held() for each in found) else None


def completed(failure: Failure) -> Failure:
    """A failure with what the op that it is about computes, and what the installed packages know of a missing name."""
    name, positions = missing_name(failure), refused_positions(failure)
    outdated = compat.outdated_name(*name) if name is not None else None
    if positions is not None:
        outdated = compat.refused_positions(*positions)
    said, instead = outdated or (None, None)
    return replace(failure, action=ACTIONS.get(failure.op or ""), outdated=said, instead=instead)


def _held(book: VariableBook, updates: Updates, value: Any) -> Held:
    entry = book.of(value) if hasattr(type(value), "assign") else None
    label = updates.label_of(value)
    return Held(
        variable=None if entry is None else VariableId(entry.id),
        gradient_of=frozenset() if label is None else frozenset(map(VariableId, label.variables)),
    )
