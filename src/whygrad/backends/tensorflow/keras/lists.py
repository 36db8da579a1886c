"""Lists of variables that user code reads: of layers, built or not yet, and of a `tf.Module`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow.keras.called_layers import CalledLayers
from whygrad.backends.tensorflow.keras.inspection import is_built, listed, path_of, variables_inside
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import VariableId
from whygrad.graph.objects import ListRead
from whygrad.observe.place import Place, span
from whygrad.source.position import CodeOwner, owner_of

OF_LAYERS = ("trainable_variables", "trainable_weights", "variables", "weights")
OF_MODULES = ("trainable_variables", "variables")
_MOST = 256  # reads that are remembered, of each kind
_LOOKS = 3  # at what a module holds, for each place


@dataclass(slots=True)
class ReadEntry:
    owner: weakref.ref[Any]
    name: str
    attribute: str
    place: Place
    held: tuple[VariableId, ...]
    value: Any = None  # the very list; of an owner that was not built
    later: tuple[VariableId, ...] | None = None  # the list since the owner was built; None: it was not yet
    handed_on: bool = False
    looks: int = 0
    unlisted: dict[VariableId, Place] = field(default_factory=dict)  # and where what holds it was made


class ListReads:
    def __init__(self, recorder: Recorder, variables: VariableBook, layers: CalledLayers) -> None:
        self._recorder = recorder
        self._variables = variables
        self._layers = layers
        self._unbuilt: list[ReadEntry] = []
        self._first: dict[Any, ReadEntry] = {}  # the first read of each list at each place; not of unbuilt layers

    def read_of_layer(self, layer: Any, attribute: str, value: Any, frame: FrameType) -> None:
        if owner_of(frame.f_code) is not CodeOwner.USER:
            return
        place = self._recorder.places.at(frame)
        if is_built(layer):
            read = self._first_read(layer, path_of, attribute, value, place)
            if read is not None:
                read.later = read.held  # what it lists afterwards depends on flags, not on what was made
            return
        if len(self._unbuilt) > _MOST:
            return
        held = self._variables.ids(value)
        self._unbuilt.append(ReadEntry(weakref.ref(layer), path_of(layer), attribute, place, held, value))

    def read_of_module(self, module: Any, attribute: str, value: Any, frame: FrameType) -> None:
        if owner_of(frame.f_code) is not CodeOwner.USER:
            return
        place = self._recorder.places.of(frame)
        read = self._first_read(module, lambda each: type(each).__name__, attribute, value, place)
        if read is not None and read.looks < _LOOKS:  # what it holds may be built late; at the end it may be gone
            held = self._variables.ids(value)
            read.looks += 1
            for variable, layer in variables_inside(module):
                entry = self._variables.of(variable)
                if entry is not None and entry.id not in held:
                    made = None if layer is None else self._layers.made_at(layer)
                    read.unlisted[VariableId(entry.id)] = made

    def _first_read(
        self, owner: Any, name: Callable[[Any], str], attribute: str, value: Any, place: Place
    ) -> ReadEntry | None:
        """The first read of this list at this place; None where there are too many to remember another."""
        key = (id(owner), attribute, place)
        read = self._first.get(key)
        if read is None and len(self._first) < _MOST:
            held = self._variables.ids(value)
            read = self._first[key] = ReadEntry(weakref.ref(owner), name(owner), attribute, place, held)
        return read

    def was_handed_on(self, value: Any) -> None:
        """A list was given to a gradient request."""
        self._look_again()
        for read in self._unbuilt:
            if read.value is value:
                read.handed_on = True

    def _look_again(self) -> None:
        """Keep what the lists hold by now: the models may be gone when the report is made."""
        for read in self._unbuilt:
            layer = read.owner() if read.later is None else None
            if layer is not None and is_built(layer):
                read.later = self._now(read)

    def _now(self, read: ReadEntry) -> tuple[VariableId, ...]:
        owner = read.owner()
        return read.held if owner is None else self._variables.ids(listed(owner, read.attribute))

    def events(self) -> Iterator[ListRead]:
        self._look_again()
        for read in [*self._unbuilt, *self._first.values()]:
            made = (where for place in read.unlisted.values() if (where := span(place)) is not None)
            yield ListRead(
                owner=read.name,
                attribute=read.attribute,
                where=span(read.place),
                held=read.held,
                later=self._now(read) if read.later is None else read.later,
                built=read.value is None,
                handed_on=read.handed_on,
                unlisted=tuple(read.unlisted),
                made=tuple(dict.fromkeys(made)),
            )
