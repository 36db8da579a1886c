"""Lists of variables that user code reads of a `tf.Module`, which may make more of them later."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow.keras.module_contents import forgotten
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import OutgrownList
from whygrad.source.position import CodeOwner, owner_of

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture

LISTS = ("trainable_variables", "variables")
MOST = 256  # places that are remembered
LOOKS = 3  # at what a module holds, for each place


@dataclass(slots=True)
class ModuleRead:
    module: weakref.ref[Any]
    name: str  # of its class
    attribute: str
    place: Any
    variables: tuple[int, ...]
    looks: int = 0
    forgotten: dict[int, Any] = field(default_factory=dict)  # what it holds beside, and where that was made


class ModuleReads:
    """The first read of each list at each place."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.reads: dict[Any, ModuleRead] = {}

    def note(self, module: Any, attribute: str, value: Any, frame: FrameType) -> None:
        if owner_of(frame.f_code) is not CodeOwner.USER:
            return
        place = self.capture.recorder._place_of(frame)
        key = (id(module), attribute, place)
        read = self.reads.get(key)
        if read is None and len(self.reads) >= MOST:
            return
        if read is None:
            name = type(module).__name__
            read = self.reads[key] = ModuleRead(weakref.ref(module), name, attribute, place, self._ids(value))
        if read.looks < LOOKS:  # what a module holds may be built late; at the end the module may be gone
            read.looks += 1
            read.forgotten.update(forgotten(self.capture, module, self._ids(value)))

    def events(self) -> Iterator[OutgrownList]:
        """The lists that have grown since."""
        for read in self.reads.values():
            module = read.module()
            now = () if module is None else self._ids(getattr(module, read.attribute))
            if len(now) > len(read.variables):
                yield OutgrownList(
                    model=type(module).__name__,
                    attribute=read.attribute,
                    where=span(read.place),
                    then=tuple(map(VariableId, read.variables)),
                    since=tuple(VariableId(number) for number in now if number not in read.variables),
                )

    def _ids(self, variables: Any) -> tuple[int, ...]:
        found = (self.capture.variables.of(variable) for variable in variables)
        return tuple(entry.id for entry in found if entry is not None)


def install(capture: Capture) -> None:
    import tensorflow as tf

    reads = capture.module_reads

    def listing(attribute: str) -> Any:
        def wrap(original: Any) -> Any:
            def read(self: Any) -> Any:
                value = original.fget(self)
                capture.hooks.safely(reads.note, self, attribute, value, sys._getframe(1))
                return value

            return property(read, original.fset, original.fdel, original.__doc__)

        return wrap

    for attribute in LISTS:
        capture.hooks.replace(tf.Module, attribute, listing(attribute))
