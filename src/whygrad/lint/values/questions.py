"""Small questions about values that flow and rules ask alike."""

from __future__ import annotations

from whygrad.backends.api import Api, Does
from whygrad.lint.values.value import Literal, Node, Object, Value


def options(value: Value) -> tuple[Value, ...]:
    """The values that a branch decides between; else the value alone."""
    return value.inputs if isinstance(value, Node) and value.does is Does.EITHER else (value,)


def is_none(value: Value | None) -> bool:
    """Whether a value is missing, or the constant `None`."""
    return value is None or (isinstance(value, Literal) and value.value is None)


def group_owner(value: Value | None) -> Value | None:
    """Whose variables an entry stands for; None where it stands for no list."""
    return value.group.owner if isinstance(value, Node) and value.group is not None else None


def is_weightless(layer: Object, api: Api) -> bool:
    return layer.klass is None and layer.short in api.weightless
