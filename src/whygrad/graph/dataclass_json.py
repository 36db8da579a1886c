"""Frozen dataclasses <-> JSON. The classes themselves are the schema: a new class or field needs no line here.

Fields that have their default value are left out; a class that shares its place with others carries its name.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: object) -> Any:
    """Dicts, lists, strings and numbers that `from_plain` turns back into the same value."""
    kind: Any = type(value)
    return codec_of(kind).encode(value)


def from_plain(kind: type[T], data: Any) -> T:
    """The value that `to_plain` was given; fields it does not know are left out, missing ones get their default."""
    hint: Any = kind
    value: T = codec_of(hint, lenient=True).decode(data)
    return value


class Codec(NamedTuple):
    """Both ways between a value of one type and what JSON has."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


@functools.cache
def codec_of(hint: Any, lenient: bool = False) -> Codec:
    """The codec of a type, made once from its annotations; `lenient`: fields that it does not know are left out."""
    if isinstance(hint, NewType):
        return codec_of(hint.__supertype__, lenient)
    if hint in (int, str, bool):
        return Codec(_same, functools.partial(_checked, hint))
    if hint is float:
        return Codec(_float_out, _float_in)
    if hint is type(None):
        return Codec(_same, _same)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Codec(lambda member: member.value, hint)
    if _is_class(hint):
        return _of_dataclass(hint, lenient)
    maker = _MAKERS.get(get_origin(hint))
    if maker is None:
        raise TypeError(f"no JSON form for {hint}")
    return maker(get_args(hint), lenient)


def _is_class(hint: Any) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _same(value: Any) -> Any:
    return value


def _checked(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


def _float_out(value: float) -> float | str:
    """JSON has no word for NaN and infinities."""
    return value if math.isfinite(value) else repr(float(value))


def _float_in(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float | str):
        raise TypeError(f"{data!r} is not of type float")
    return float(data)


def _of_dataclass(kind: type, lenient: bool) -> Codec:
    hints = get_type_hints(kind)
    fields = {field.name: (codec_of(hints[field.name], lenient), _default(field)) for field in dataclasses.fields(kind)}

    def encode(value: Any) -> dict[str, Any]:
        found = {}
        for name, (codec, default) in fields.items():
            held = getattr(value, name)
            if held != default:
                found[name] = codec.encode(held)
        return found

    def decode(data: Any) -> Any:
        unknown = sorted(_checked(dict, data).keys() - fields.keys())
        if unknown and not lenient:
            raise ValueError(f"{kind.__name__} has no {', '.join(unknown)}")
        return kind(**{name: fields[name][0].decode(item) for name, item in data.items() if name in fields})

    return Codec(encode, decode)


_REQUIRED: Final = object()  # equal to nothing that a field can hold


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else _REQUIRED


def _listed(data: Any) -> list[Any]:
    return _checked(list, data)


def _of_tuple(items: tuple[Any, ...], lenient: bool) -> Codec:
    if items[-1] is Ellipsis:
        each = codec_of(items[0], lenient)
        return Codec(
            lambda value: [each.encode(i) for i in value], lambda data: tuple(each.decode(i) for i in _listed(data))
        )
    codecs = [codec_of(item, lenient) for item in items]
    return Codec(
        lambda value: [codec.encode(i) for codec, i in zip(codecs, value, strict=True)],
        lambda data: tuple(codec.decode(i) for codec, i in zip(codecs, _listed(data), strict=True)),
    )


def _of_frozenset(items: tuple[Any, ...], lenient: bool) -> Codec:
    each = codec_of(items[0], lenient)
    return Codec(
        lambda value: sorted(each.encode(i) for i in value),
        lambda data: frozenset(each.decode(i) for i in _listed(data)),
    )


def _of_mapping(items: tuple[Any, ...], lenient: bool) -> Codec:
    """As a list of pairs: JSON's own objects have text keys only, and lose the order of numbers."""
    key, value = (codec_of(item, lenient) for item in items)
    return Codec(
        lambda table: [[key.encode(k), value.encode(v)] for k, v in table.items()],
        lambda data: {key.decode(k): value.decode(v) for k, v in _listed(data)},
    )


def _of_union(items: tuple[Any, ...], lenient: bool) -> Codec:
    """Classes are told apart by their name, everything else by the type JSON has for it."""
    classes = {item.__name__: item for item in items if _is_class(item)}
    plain = [item for item in items if not _is_class(item) and item is not type(None)]
    if len(plain) + (len(classes) > 0) > 1:
        raise TypeError(f"no JSON form for a choice of {items}")
    named = len(classes) > 1
    only = codec_of((plain or list(classes.values()))[0], lenient)

    def encode(value: Any) -> Any:
        if value is None:
            return None
        if not named:
            return only.encode(value)
        name = type(value).__name__
        return {"class": name, **codec_of(classes[name], lenient).encode(value)}  # no field can be called `class`

    def decode(data: Any) -> Any:
        if data is None:
            return _nothing(items)
        if not named:
            return only.decode(data)
        rest = dict(data)
        name = rest.pop("class")
        if name not in classes:
            raise ValueError(f"{name!r} is none of {', '.join(sorted(classes))}")
        return codec_of(classes[name], lenient).decode(rest)

    return Codec(encode, decode)


def _nothing(items: tuple[Any, ...]) -> None:
    if type(None) not in items:
        raise TypeError("null where a value is needed")


_MAKERS: Final[Mapping[Any, Callable[[tuple[Any, ...], bool], Codec]]] = {
    tuple: _of_tuple,
    frozenset: _of_frozenset,
    Mapping: _of_mapping,
    Union: _of_union,
    types.UnionType: _of_union,
}
