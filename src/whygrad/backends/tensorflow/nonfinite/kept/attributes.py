"""Attributes of ops as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from whygrad.backends.tensorflow import compat

MAX_LIST: Final = 10_000  # values of one attribute

_PLAIN: Final = {"int": (int,), "float": (int, float), "bool": (bool,)}


class AttributeKindError(Exception):
    """An attribute that has no form in JSON (a function, a tensor), or one in JSON that the op does not have."""


def encoded(attrs: Any) -> list[Any]:
    """Names and values in turns."""
    return [_encode(each) for each in attrs or ()]


def decoded(op_type: str, stored: Sequence[Any]) -> tuple[Any, ...]:
    """What `encoded` wrote, as far as the op has such attributes; else an AttributeKindError."""
    kinds = {attribute.name: attribute.type for attribute in compat.op_definition(op_type).attr}
    names, values = stored[::2], stored[1::2]
    if len(names) != len(values) or not all(isinstance(name, str) and name in kinds for name in names):
        raise AttributeKindError(f"`{op_type}` has other attributes")
    return tuple(
        part for name, value in zip(names, values, strict=True) for part in (name, _decode(value, kinds[name]))
    )


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(each) for each in value]}
    if isinstance(value, compat.DType):
        return {"dtype": value.name}
    if hasattr(value, "as_list") and hasattr(value, "rank"):
        return {"shape": None if value.rank is None else value.as_list()}
    raise AttributeKindError(type(value).__name__)


def _decode(stored: Any, kind: str) -> Any:
    if kind.startswith("list("):
        items = _part(stored, "list")
        if not isinstance(items, list) or len(items) > MAX_LIST:
            raise AttributeKindError("a list is malformed")
        return [_decode(each, kind[5:-1]) for each in items]
    if kind == "shape":
        sides = _part(_part(stored, "shape"), "list")
        if sides is not None and not (isinstance(sides, list) and all(s is None or _is_side(s) for s in sides)):
            raise AttributeKindError("a shape is malformed")
        return None if sides is None else [-1 if side is None else side for side in sides]
    if kind == "string":
        text = _part(stored, "bytes")
        return text.encode("utf-8" if text is stored else "latin-1") if isinstance(text, str) else _plain(text, kind)
    if kind == "type":
        name = _part(stored, "dtype")
        return compat.dtype_named(name) if isinstance(name, str) else _plain(name, "int")
    return _plain(stored, kind)


def _part(stored: Any, name: str) -> Any:
    """What stands under the one key that the kind has; plain values stand as they are."""
    return stored[name] if isinstance(stored, dict) and stored.keys() == {name} else stored


def _plain(value: Any, kind: str) -> Any:
    if type(value) not in _PLAIN.get(kind, ()) or (type(value) is int and abs(value) >= 2**63):
        raise AttributeKindError(f"an attribute is not a {kind}")
    return value


def _is_side(side: Any) -> bool:
    return type(side) is int and -1 <= side < 2**63
