"""Frozen dataclasses as JSON and back: diagnostics, graphs, and whatever else is only data."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_KIND = "kind"  # which dataclass of a union it is


def to_plain(value: object) -> Any:
    """Dicts, lists, strings and numbers that `from_plain` turns back into the same value."""
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {_KIND: type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return [[to_plain(key), to_plain(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted((to_plain(item) for item in value), key=repr)
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[T], data: Any) -> T:
    """The value that `to_plain` was given; fields it does not know are left out, missing ones get their default."""
    return typing.cast(T, _read(kind, data))


def _read(kind: Any, data: Any) -> Any:
    kind = getattr(kind, "__supertype__", kind)  # NewType
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union or origin is types.UnionType:
        return _read_union(arguments, data)
    if origin is tuple:
        inner = arguments[0]
        return tuple(
            _read(inner if arguments[1:] == (...,) else a, d) for a, d in _paired(arguments, _checked(list, data))
        )
    if origin in (frozenset, set):
        return frozenset(_read(arguments[0], item) for item in _checked(list, data))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {_read(arguments[0], key): _read(arguments[1], item) for key, item in _checked(list, data)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(data)
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(typing.cast(type, kind), _checked(dict, data))
    if kind in (int, str, bool):
        return _checked(kind, data)
    if kind is float:
        return float(data) if type(data) is int else _checked(float, data)
    return data


def _checked(kind: type[T], data: Any) -> T:
    if type(data) is not kind:
        raise TypeError(f"{str(data)[:50]!r} is no {kind.__name__}")
    return data


def _paired(arguments: tuple[Any, ...], data: list[Any]) -> list[tuple[Any, Any]]:
    if arguments[1:] == (...,):
        return [(arguments[0], item) for item in data]
    return list(zip(arguments, data, strict=True))


def _read_union(arguments: tuple[Any, ...], data: Any) -> Any:
    if data is None:
        return None
    choices = [choice for choice in arguments if choice is not type(None)]
    if isinstance(data, dict):
        for choice in choices:
            if getattr(choice, "__name__", "") == data.get(_KIND):
                return _read(choice, data)
    return _read(choices[0], data) if len(choices) == 1 else data


def _read_dataclass(kind: type, data: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    known = {field.name for field in dataclasses.fields(kind) if field.init}
    return kind(**{name: _read(hints[name], value) for name, value in data.items() if name in known})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
