"""Attributes of ops as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whygrad.backends.tensorflow import compat


class AttributeKindError(Exception):
    """An attribute that has no form in JSON: a function, a tensor."""


def encoded(attrs: Any) -> list[Any]:
    """Names and values in turns."""
    return [_encode(each) for each in attrs or ()]


def decoded(stored: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_decode(each) for each in stored)


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(each) for each in value]}
    if compat.is_dtype(value):
        return {"dtype": value.name}
    if hasattr(value, "as_list") and hasattr(value, "rank"):
        return {"shape": None if value.rank is None else value.as_list()}
    raise AttributeKindError(type(value).__name__)


def _decode(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    if "bytes" in stored:
        return stored["bytes"].encode("latin-1")
    if "list" in stored:
        return [_decode(each) for each in stored["list"]]
    if "dtype" in stored:
        return compat.dtype_named(stored["dtype"])
    sides = stored["shape"]
    return None if sides is None else [-1 if side is None else side for side in sides]
