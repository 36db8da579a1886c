"""Variables that a `tf.Module` holds and its own lists lack: it sees neither Keras 3 layers nor plain objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.facts import listed
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import ModuleForgets

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture

_DEPTH = 6
_OF_FRAMEWORKS = ("builtins", "numpy", "tensorflow", "keras", "tf_keras")


def module_contents(capture: Capture) -> Iterator[ModuleForgets]:
    """One event for each read of a list that is too short."""
    for read in capture.module_reads.reads.values():
        if read.forgotten and read.attribute == "trainable_variables":
            made = (span(place) for place in read.forgotten.values())
            yield ModuleForgets(
                module=read.name,
                where=span(read.place),
                variables=tuple(map(VariableId, read.forgotten)),
                made=tuple(dict.fromkeys(place for place in made if place is not None)),
                empty=not read.variables,
            )


def forgotten(capture: Capture, module: Any, own: tuple[int, ...]) -> Iterator[tuple[int, Any]]:
    """Each trainable variable that is missing in the module's list, with the place where its layer was made."""
    for variable, layer in _inside(module, _DEPTH, set()):
        entry = capture.variables.of(variable)
        if entry is not None and entry.id not in own:
            yield entry.id, None if layer is None else capture.keras.made.get(layer)


def _inside(value: Any, depth: int, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    if depth == 0 or id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "assign") and hasattr(value, "trainable"):
        if value.trainable:
            yield value, None
    elif hasattr(value, "trainable_variables") and hasattr(value, "built"):
        yield from ((variable, value) for variable in listed(value, "trainable_variables"))
    else:
        for part in _parts(value):
            yield from _inside(part, depth - 1, seen)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    own = type(value).__module__.split(".")[0] not in _OF_FRAMEWORKS and not isinstance(value, type)
    return list(vars(value).values()) if own and hasattr(value, "__dict__") and not _is_callable_only(value) else []


def _is_callable_only(value: Any) -> bool:
    """Functions and the like: what hangs on them belongs to no model."""
    return type(value).__name__ in ("function", "method", "module", "partial")
