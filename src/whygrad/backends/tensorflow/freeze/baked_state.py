"""Python numbers that a traced function changes and depends on."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.log.traced_runs import is_number
from whygrad.graph.event import BakedState
from whygrad.source import SourceSpan
from whygrad.source.call_use import UsedCall, called_inside, used_calls
from whygrad.source.position import CodeOwner, owner_of
from whygrad.source.state import Mutation, attribute_reads, changed_outside, global_reads, mutations

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def baked_state(capture: Capture) -> Iterator[BakedState]:
    """What the source of each traced function changes, where the value really is a Python number."""
    seen = set()
    for place, owner, scope, *_ in list(capture.recorder.traced_code.values()):
        where = span(place)
        holder = owner() if owner is not None else None
        for mutation in () if where is None else mutations(where):
            if mutation not in seen and is_number(_value(mutation, holder, scope)):
                seen.add(mutation)
                yield BakedState(name=mutation.name, where=mutation.where, read=mutation.read)

    yield from _set_from_outside(capture)
    yield from _closed_over(capture)
    yield from _changed_between_runs(capture)
    yield from _drawn_while_tracing(capture)


def _set_from_outside(capture: Capture) -> Iterator[BakedState]:
    """A number of a layer that was changed after the function that uses it had been traced."""
    for place, owner, *_ in list(capture.recorder.traced_code.values()):
        where = span(place)
        holder = owner() if owner is not None else None
        for (number, name), (changed, order) in capture.keras.numbers_set.items():
            if where is None or number != id(holder) or order <= capture.recorder.first_trace:
                continue
            read = attribute_reads(where, name)
            if read is not None:
                yield BakedState(name=f"self.{name}", where=span(changed), read=read, outside=True)


def _closed_over(capture: Capture) -> Iterator[BakedState]:
    """A closed-over number that was changed again and again after the function that uses it was traced."""
    for traced in list(capture.recorder.traced_code.values()):
        where = span(traced.place)
        for name in traced.changed():
            found = None if where is None else changed_outside(where, name)
            if found is not None:
                yield BakedState(name=name, where=found.where, read=found.read, outside=True)


def _value(mutation: Mutation, holder: Any, scope: dict[str, Any]) -> Any:
    first, _, attribute = mutation.name.partition(".")
    if not attribute:
        return scope.get(first)
    return getattr(holder if first == "self" else scope.get(first), attribute, None)


def _changed_between_runs(capture: Capture) -> Iterator[BakedState]:
    """A number or network, global or of a plain object, that was another when the traced function ran again."""
    runs, told = capture.recorder.traced_runs, set[object]()
    layers = {number for number, _ in capture.keras.numbers_set}
    for number in list(runs.changed.values()):
        traced = capture.recorder.traced_code.get(number.code)
        if traced is None:
            continue
        where, owner = span(traced.place), traced.owner
        if where is None or (number.attribute and owner is not None and id(owner()) in layers):
            continue
        name = f"self.{number.name}" if number.attribute else number.name
        read = attribute_reads(where, number.name) if number.attribute else global_reads(where, number.name)
        key = number.code if number.is_network else (read, name)  # networks are replaced together with their optimizers
        if read is not None and key not in told:
            told.add(key)
            yield BakedState(name=name, where=None, read=read, outside=True, replaced=number.is_network)


def _drawn_while_tracing(capture: Capture) -> Iterator[BakedState]:
    """Random numbers of Python and NumPy, and the time, taken in a function that ran again as a graph."""
    told = set[SourceSpan]()
    repeated = capture.recorder.traced_runs.repeated()
    for code, (place, owner, scope, *_) in list(capture.recorder.traced_code.items()):
        where = span(place) if code in repeated else None
        holder = owner() if owner is not None else None
        for call in used_calls(where) if where is not None else ():
            kind = _kind_of_draw(call, holder, scope)
            if kind is not None and call.where not in told:
                told.add(call.where)
                yield BakedState(name=f"{call.name}()", where=call.where, read=call.decides, drawn=kind)


def _kind_of_draw(call: UsedCall, holder: Any, scope: dict[str, Any]) -> str | None:
    found = _resolve(call.name, holder, scope)
    if _is_clock(found):
        return "time" if call.decides is not None else None
    if _is_random(found):
        return "random"
    if isinstance(found, FunctionType) and owner_of(found.__code__) is CodeOwner.USER:
        inner = called_inside(found.__code__.co_filename, found.__name__)
        if any(_is_random(_resolve(name, holder, found.__globals__)) for name in inner):
            return "random"
    return None


def _resolve(name: str, holder: Any, scope: dict[str, Any]) -> Any:
    """The object that a dotted name stands for, as far as that can be told without running anything."""
    first, *rest = name.split(".")
    found = holder if first == "self" else scope.get(first)
    for attribute in rest:
        plain = isinstance(found, ModuleType) or type(found).__module__.split(".")[0] in ("random", "numpy")
        found = getattr(found, attribute, None) if plain else getattr(found, "__dict__", {}).get(attribute)
    return found


def _is_random(function: Any) -> bool:
    """A bound method of one of Python's or NumPy's generators that draws."""
    kind = type(getattr(function, "__self__", None))
    drawing = kind.__module__ == "random" or kind.__module__.startswith("numpy.random")
    return drawing and getattr(function, "__name__", "") not in _NOT_DRAWING


def _is_clock(function: Any) -> bool:
    return getattr(function, "__module__", None) == "time" and callable(function)


_NOT_DRAWING = ("seed", "getstate", "setstate", "get_state", "set_state", "spawn")
