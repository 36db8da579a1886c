"""Python numbers that a traced function changes and depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.positions import span
from whygrad.capture.state import Mutation, attribute_reads, changed_outside, mutations, name_read
from whygrad.graph import VariableId
from whygrad.graph.event import BakedState, TracedWithout

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
        where = span(traced.place)
        for name in traced.changed():
            found = None if where is None else changed_outside(where, name)
            if found is not None:
                yield BakedState(name=name, where=found.where, read=found.read, outside=True)


def forgotten_networks(capture: Capture) -> Iterator[TracedWithout]:
    """Names in traced functions that hold another network now, which the function was called without knowing of."""
    for traced in list(capture.recorder.traced_code.values()):
        graph = None if traced.graph is None else traced.graph()
        called = 0 if graph is None else capture.recorder.last_call.get(graph, 0)
        where = span(traced.place)
        if graph is None or where is None or not called:
            continue
        for name, now in traced.replaced():
            found = (capture.variables.of(variable) for variable in getattr(now, "trainable_variables", ()))
            mine = [entry for entry in found if entry is not None]
            used = {outer._id for outer, _ in graph.captures}
            if mine and max(entry.made_at for entry in mine) < called and used.isdisjoint(entry.id for entry in mine):
                ids = tuple(VariableId(entry.id) for entry in mine)
                yield TracedWithout(name=name, variables=ids, where=name_read(where, name) or where)


def _value(mutation: Mutation, holder: Any, scope: dict[str, Any]) -> Any:
    first, _, attribute = mutation.name.partition(".")
    if not attribute:
        return scope.get(first)
    return getattr(holder if first == "self" else scope.get(first), attribute, None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not hasattr(value, "dtype")
