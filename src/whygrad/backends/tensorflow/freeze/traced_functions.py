"""The user's functions that were traced, and what the names in them stood for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.traced_functions import Held, TracedFunctions, Tracing, files_of, is_number
from whygrad.graph.event import NameKind, TracedFunction, TracedName
from whygrad.observe.place import Place, span
from whygrad.source import SourceSpan
from whygrad.source.call_use import called_inside
from whygrad.source.position import CodeOwner, owner_of
from whygrad.source.state import names_in
from whygrad.source.text import in_one_module

NumbersSet = Mapping[tuple[int, str], Mapping[Place, int]]  # when a number that an object holds was changed last, where
_ROUNDS = 4  # an object's methods may use another object
_TELLING = ("random", "numpy", "time")  # packages whose functions may give another value at each call


def traced_functions(log: TracedFunctions, numbers_set: NumbersSet) -> Iterator[TracedFunction]:
    again = log.repeated()
    for code, traced in list(log.of.items()):
        where = span(traced.place)
        names = () if where is None else tuple(_names(log, numbers_set, code, traced, where))
        if where is not None and names:
            yield TracedFunction(where=where, ran_again=code in again, names=names)


def _names(
    log: TracedFunctions, numbers_set: NumbersSet, code: CodeType, traced: Tracing, where: SourceSpan
) -> Iterator[TracedName]:
    alive = traced.owner() if traced.owner is not None else None
    holder = traced.held if alive is None else alive
    own = traced.held.number if traced.held is not None else id(alive)
    yield from _mentioned(where, holder, {**traced.scope, **traced.closed})
    for (number, name), changes in numbers_set.items():
        if number == own and (code, name, True) in log.changed:
            later = (place for place, order in changes.items() if order > log.began)
            for changed in itertools.islice(later, 1):
                yield TracedName(name=f"self.{name}", kind=NameKind.NUMBER, changed=True, changed_at=span(changed))
    for name in traced.changed_cells():
        yield TracedName(name=name, kind=NameKind.NUMBER, changed=True, closed_over=True)
    followed = any(number == own for number, _ in numbers_set)
    for seen in list(log.changed.values()):
        if seen.code is code and not (seen.attribute and followed):
            kind = NameKind.NETWORK if seen.is_network else NameKind.NUMBER
            name = f"self.{seen.name}" if seen.attribute else seen.name
            yield TracedName(name=name, kind=kind, changed=True)
    for part in list(log.changed_parts.values()):
        if part.code is code:
            owner = "self." if part.attribute else ""
            yield TracedName(name=owner + part.text, kind=NameKind.NUMBER, changed=True)
            if part.is_rebound:
                yield TracedName(name=owner + part.name, kind=NameKind.OBJECT, changed=True)


def _mentioned(where: SourceSpan, holder: Any, scope: dict[str, Any]) -> Iterator[TracedName]:
    """What the names in the source of a function stand for now: numbers, and functions that may not be constant."""
    objects = _objects(where, holder, scope)
    for name in sorted(names_in(where, objects)):
        found, (owner, _, own) = _resolve(name, holder, scope), name.rpartition(".")
        parent = _resolve(owner, holder, scope) if owner else None
        numbers, tensors = (parent.numbers, parent.tensors) if isinstance(parent, Held) else ((), ())
        if name in objects:
            yield TracedName(name=name, kind=NameKind.OBJECT, classes=objects[name])
        elif is_number(found) or own in numbers:
            yield TracedName(name=name, kind=NameKind.NUMBER)
        elif own in tensors or (compat.is_tensor(found) and not compat.has_values(found)):
            yield TracedName(name=name, kind=NameKind.TENSOR)
        elif functions := tuple(_functions(found, holder)):
            yield TracedName(name=name, kind=NameKind.FUNCTION, functions=functions)


def _objects(where: SourceSpan, holder: Any, scope: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The objects that a function and what it runs reach by a name, as far as their classes are in its file."""
    found = dict[str, tuple[str, ...]]()
    for _ in range(_ROUNDS):
        new = {name: _classes(_resolve(name, holder, scope), where.file) for name in names_in(where, found) - {"self"}}
        known, found = found, {name: classes for name, classes in new.items() if classes}
        if known == found:
            break
    return found


def _classes(thing: Any, file: str) -> tuple[str, ...]:
    """The class of an object, and those it inherits from, as far as they are in a file."""
    kind = thing.kind if isinstance(thing, Held) else type(thing)
    return tuple(name for name, home in files_of(kind) if in_one_module(home, file))


def _functions(found: Any, holder: Any) -> Iterator[str]:
    """The full name of a function; for one of the user's own, those of the functions it calls."""
    if isinstance(found, FunctionType) and owner_of(found.__code__) is CodeOwner.USER:
        inner = called_inside(found.__code__.co_filename, found.__name__)
        yield from filter(None, (_full_name(_resolve(name, holder, found.__globals__)) for name in inner))
    elif full := _full_name(found):
        yield full


def _full_name(function: Any) -> str | None:
    """`random.Random.random`, `numpy.random.mtrand.RandomState.normal`, `time.time`; None for other packages."""
    if not callable(function) or isinstance(function, type):
        return None
    kind = type(getattr(function, "__self__", None))
    bound = kind.__module__ != "builtins" and kind is not ModuleType
    home = f"{kind.__module__}.{kind.__qualname__}" if bound else str(getattr(function, "__module__", ""))
    return f"{home}.{getattr(function, '__name__', '')}" if home.split(".")[0] in _TELLING else None


def _resolve(name: str, holder: Any, scope: dict[str, Any]) -> Any:
    """The object that a dotted name stands for, as far as that can be told without running anything."""
    first, *rest = name.split(".")
    found = holder if first == "self" else scope.get(first)
    for attribute in rest:
        plain = isinstance(found, ModuleType) or type(found).__module__.split(".")[0] in ("random", "numpy")
        found = getattr(found, attribute, None) if plain else _held(found, attribute)
    return found


def _held(thing: Any, attribute: str) -> Any:
    if isinstance(thing, Held) and attribute in thing.objects:
        return thing.objects[attribute]
    if isinstance(thing, Held):
        return getattr(thing.kind, "__dict__", {}).get(attribute)
    held = getattr(thing, "__dict__", {})
    return held[attribute] if attribute in held else getattr(type(thing), "__dict__", {}).get(attribute)
