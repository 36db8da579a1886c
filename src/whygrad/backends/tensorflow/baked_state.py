"""Python numbers that a traced function changes and depends on."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.positions import span
from whygrad.capture.state import Mutation, attribute_reads, changed_outside, mutations, random_calls
from whygrad.graph.event import BakedState
from whygrad.source import source_text

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


def baked_state(capture: Capture) -> Iterator[BakedState]:
    """What the source of each traced function changes, where the value really is a Python number."""
    seen = set()
    for place, owner, scope, *_ in list(capture.recorder.traced_code.values()):
        where = span(place)
        holder = owner() if owner is not None else None
        for mutation in () if where is None else mutations(where):
            if mutation not in seen and _is_number(_value(mutation, holder, scope)):
                seen.add(mutation)
                yield BakedState(name=mutation.name, where=mutation.where, read=mutation.read)

    yield from _set_from_outside(capture)
    yield from _named_numbers(capture)
    if capture.recorder.calls_seen > 1:
        yield from _drawn_numbers(capture)


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


def _named_numbers(capture: Capture) -> Iterator[BakedState]:
    """A global or closed-over number that was changed again and again after the function that uses it was traced."""
    for traced in list(capture.recorder.traced_code.values()):
        where = span(traced.place) if traced.inside else None
        for name in traced.changed():
            found = None if where is None else changed_outside(where, name)
            if found is not None:
                yield BakedState(name=name, where=found.where, read=found.read, outside=True)


def _drawn_numbers(capture: Capture) -> Iterator[BakedState]:
    """What Python or NumPy draws in a traced function is drawn once."""
    seen = set()
    for traced in list(capture.recorder.traced_code.values()):
        where = span(traced.place) if traced.inside else None
        for call in random_calls(where, functools.partial(_is_random, traced.scope)) if where is not None else ():
            if call not in seen:
                seen.add(call)
                yield BakedState(name=source_text(call) or "a random number", where=call, read=None, drawn=True)


def _is_random(scope: dict[str, Any], name: str) -> bool:
    """Whether a name of the user's is Python's or NumPy's random numbers: a module, or a generator."""
    first, *rest = name.split(".")
    value = scope.get(first)
    for part in rest:
        value = getattr(value, part, None)
    module = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
    return value is not None and (module == "random" or module.startswith("numpy.random"))


def _value(mutation: Mutation, holder: Any, scope: dict[str, Any]) -> Any:
    first, _, attribute = mutation.name.partition(".")
    if not attribute:
        return scope.get(first)
    return getattr(holder if first == "self" else scope.get(first), attribute, None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not hasattr(value, "dtype")
