"""Attributes of ops, as TensorFlow takes them."""

from __future__ import annotations

import functools
from typing import Any

from whygrad.backends.tensorflow.compat.core import op_definition


def given_attributes(op_type: str, attrs: Any) -> tuple[Any, ...]:
    """A listener is told of an attribute nobody gave as None, and of those of a graph's op as messages.

    Running the op again, and its gradient, want values.
    """
    flat = tuple(attrs or ())
    found: list[Any] = []
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        known = _default_attribute(op_type, name) if value is None else _value_of(value)
        found += [] if known is None else [name, known]
    return tuple(found)


@functools.cache
def _default_attribute(op_type: str, name: Any) -> Any:
    """What TensorFlow takes where nothing is given; None where it must be given."""
    definition = op_definition(op_type)
    text = name.decode() if isinstance(name, bytes) else str(name)
    for attribute in () if definition is None else definition.attr:
        if attribute.name == text and attribute.HasField("default_value"):
            return _value_of(attribute.default_value)
    return None


def _value_of(attribute: Any) -> Any:
    """The value in a message; anything else is one already."""
    if not hasattr(attribute, "WhichOneof"):
        return attribute
    kind = attribute.WhichOneof("value")
    if kind == "list":
        return [_eager_attribute(item) for _, items in attribute.list.ListFields() for item in items]
    return None if kind is None else _eager_attribute(getattr(attribute, kind))


def attributes_of(operation: Any) -> tuple[Any, ...]:
    """The attributes of a traced op in the form eager execution takes them."""
    found: list[Any] = []
    for attribute in operation.op_def.attr:
        found += [attribute.name, _eager_attribute(operation.get_attr(attribute.name))]
    return tuple(found)


def _eager_attribute(value: Any) -> Any:
    """Shapes come as protocol buffers, and are taken as lists."""
    if isinstance(value, list):
        return [_eager_attribute(each) for each in value]
    if hasattr(value, "unknown_rank"):
        return None if value.unknown_rank else [side.size for side in value.dim]
    return value
