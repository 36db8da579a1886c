"""Python values that a traced function was left with: concluded from what its names stood for and from its source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.graph import Recording
from whygrad.graph.event import NameKind, TracedFunction, TracedName
from whygrad.source import SourceSpan
from whygrad.source.bodies import Objects
from whygrad.source.call_use import used_calls
from whygrad.source.state import (
    attribute_reads,
    changed_outside,
    global_reads,
    is_guard,
    mutations,
    replacements,
    uses_of,
)

_NOT_DRAWING = ("seed", "getstate", "setstate", "get_state", "set_state", "spawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class BakedState:
    """What a traced function looked at once and keeps."""

    name: str
    where: SourceSpan | None = None  # where it is changed, or drawn
    read: SourceSpan | None = None  # where it is used
    outside: bool = False  # changed outside the traced function, after it was traced
    drawn: str = ""  # `random` or `time`: it was drawn or read while tracing
    is_object: bool = False  # it is no number but an object with numbers
    is_tensor: bool = False  # it is no number but what an earlier step computed
    replaced: bool = False  # it is no number but a network, and the name holds another one now


def baked_states(recording: Recording) -> Iterator[BakedState]:
    """Each once, whatever number of functions was traced from one source."""
    found: dict[object, BakedState] = {}
    told = set[SourceSpan]()
    for function in recording.events_of(TracedFunction):
        for state in (*_counted(function), *_changed(function), *_drawn(function)):
            # An object's number has another name in its own methods than in the functions that use the object.
            found_at = () if state.drawn or state.replaced else (state.where, state.read)
            places = {place for place in found_at if place is not None}
            if not places & told:
                found.setdefault(_cause(function, state), state)
            told |= places
    yield from found.values()


def _cause(function: TracedFunction, state: BakedState) -> object:
    """The same for all that is one mistake: a number may be changed in several places, and a network is replaced
    together with its optimizer."""
    if state.replaced:
        return function.where
    return (state.name, state.read if state.read is not None and not state.drawn else state.where)


def _counted(function: TracedFunction) -> Iterator[BakedState]:
    """Numbers that the function itself changes and depends on, and results that it leaves for the next step."""
    numbers = {each.name for each in function.names if each.kind is NameKind.NUMBER}
    for mutation in mutations(function.where, _objects(function)):
        if mutation.name in numbers:
            yield BakedState(name=mutation.name, where=mutation.where, read=mutation.read)
    tensors = {each.name for each in function.names if each.kind is NameKind.TENSOR and function.ran_again}
    for change in replacements(function.where) if tensors else ():
        if change.name in tensors and not is_guard(function.where, change.name):
            yield BakedState(name=change.name, where=change.where, read=change.read, is_tensor=True)


def _changed(function: TracedFunction) -> Iterator[BakedState]:
    """Numbers and networks that were others after the function had been traced."""
    for each in function.names:
        if each.changed and is_guard(function.where, each.name):
            continue
        if each.changed and each.closed_over:
            found = changed_outside(function.where, each.name)
            if found is not None:
                yield BakedState(name=each.name, where=found.where, read=found.read, outside=True)
        elif each.changed and (read := _read(function, each)) is not None:
            yield BakedState(
                name=each.name,
                where=each.changed_at,
                read=read,
                outside=True,
                is_object=each.kind is NameKind.OBJECT,
                replaced=each.kind is NameKind.NETWORK,
            )


def _read(function: TracedFunction, each: TracedName) -> SourceSpan | None:
    owner, _, attribute = each.name.partition(".")
    if each.kind is NameKind.OBJECT or "." in attribute or "[" in each.name or (attribute and owner != "self"):
        return uses_of(function.where, each.name, _objects(function))
    return attribute_reads(function.where, attribute) if attribute else global_reads(function.where, owner)


def _objects(function: TracedFunction) -> Objects:
    """Those that a function uses, but for what stands for another object now: that is the mistake then."""
    replaced = {each.name for each in function.names if each.kind is NameKind.OBJECT and each.changed}
    return {each.name: each.classes for each in function.names if each.classes and each.name not in replaced}


def _drawn(function: TracedFunction) -> Iterator[BakedState]:
    """Random numbers of Python and NumPy, and the time, taken in a function that ran again without its Python."""
    functions = {each.name: each.functions for each in function.names if each.kind is NameKind.FUNCTION}
    for call in used_calls(function.where) if function.ran_again and functions else ():
        called = functions.get(call.name, ())
        if any(map(_is_random, called)):
            yield BakedState(name=f"{call.name}()", where=call.where, read=call.decides, drawn="random")
        elif call.decides is not None and any(name.startswith("time.") for name in called):
            yield BakedState(name=f"{call.name}()", where=call.where, read=call.decides, drawn="time")


def _is_random(function: str) -> bool:
    return function.startswith(("random.", "numpy.random.")) and function.split(".")[-1] not in _NOT_DRAWING
