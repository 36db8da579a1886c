"""Which layers were called: where they were made, where user code calls them, and in which mode."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow.keras.inspection import (
    all_layers,
    has_statistics,
    is_mode_dependent,
    listed,
    path_of,
    regularisers,
    runs_user_code,
)
from whygrad.backends.tensorflow.keras.layer_chain import LayerChain
from whygrad.backends.tensorflow.log.autograph import caller_of
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import TapeId, VariableId
from whygrad.graph.objects import Call, ObjectCalled
from whygrad.observe.place import Place, span
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, owner_of, user_frame, user_frames_around

_KEPT = 32  # ways in which one layer is called
_LATER = 0  # any tape, after so many
_LAYERS = 4096


@dataclass(slots=True)
class CalledLayer:
    layer: weakref.ref[Any]
    made: tuple[Place, ...]
    name: str = ""
    calls: dict[tuple[Place, bool, bool | None], tuple[Place, ...]] = field(default_factory=dict)  # -> their callers
    variables: tuple[VariableId, ...] = ()
    most_in_a_pass: int = 1
    _around: Any = None
    _place: Place = None
    _in_pass: int = 0

    def count(self, around: Any, place: Place) -> None:
        """A call within one pass: one call of the layer around it, or one expression under one tape."""
        again = around is self._around and place == self._place
        self._around, self._place = around, place
        self._in_pass = self._in_pass + 1 if again else 1
        self.most_in_a_pass = max(self.most_in_a_pass, self._in_pass)


class CalledLayers:
    def __init__(self, recorder: Recorder, variables: VariableBook) -> None:
        self._recorder = recorder
        self._variables = variables
        self.made: weakref.WeakKeyDictionary[Any, tuple[Place, ...]] = weakref.WeakKeyDictionary()
        self.made_by_name: dict[str, Place] = {}
        self.by_layer: weakref.WeakKeyDictionary[Any, CalledLayer] = weakref.WeakKeyDictionary()
        self._all: list[CalledLayer] = []
        self._places: set[Place] = set()
        self.chain = LayerChain(self.made_at)
        self._losses_read: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()  # under which tapes
        self._losses_added: weakref.WeakSet[Any] = weakref.WeakSet()

    def __contains__(self, place: Place) -> bool:
        """Whether user code called a layer there."""
        return place in self._places

    def was_made(self, layer: Any, frame: FrameType) -> None:
        found = user_frame(frame)
        self.made[layer] = (self._recorder.places.of(found), *self._around(found))

    def made_at(self, layer: Any) -> Place:
        return self.made.get(layer, (None,))[0]

    def made_for_weight(self, frame: FrameType | None) -> Place:
        """Where the layer was made that makes a weight now, unless its class is the user's own."""
        while frame is not None and owner_of(frame.f_code) is not CodeOwner.USER:
            if frame.f_code.co_name == "add_weight":
                layer, user = frame.f_locals.get("self"), user_frame(frame)
                return None if user is not None and user.f_locals.get("self") is layer else self.made_at(layer)
            frame = frame.f_back
        return None

    def entered(self, layer: Any, args: Any, kwargs: Any, frame: FrameType) -> tuple[str, ...]:
        """A layer call begins; the layers around it are returned."""
        recorder = self._recorder
        called, around = self.by_layer.get(layer), recorder.layers
        if called is None:
            called = self.by_layer[layer] = CalledLayer(weakref.ref(layer), self.made.get(layer, ()))
            if len(self._all) < _LAYERS:
                self._all.append(called)
        called.name = path_of(layer)
        if called.name not in self.made_by_name:
            self.made_by_name[called.name] = self.made_at(layer)
        recorder.layers = (*around, called.name)
        if around:
            called.count(around, None)
        elif not recorder.paused and owner_of((frame := _asking(layer, frame)).f_code) is CodeOwner.USER:
            self._note(called, layer, _mode(args, kwargs), frame)
        return around

    def _note(self, called: CalledLayer, layer: Any, training: bool | None, frame: FrameType) -> None:
        """A layer may be built by its first call, so its variables are asked for at each new one."""
        recorder = self._recorder
        place = recorder.places.of(frame)
        self._places.add(place)
        if recorder.tapes:
            called.count(recorder.tapes, place)
        key = (place, bool(recorder.tapes), training)
        if key not in called.calls and len(called.calls) < _KEPT:
            called.calls[key] = self._around(frame)
            called.variables = self._variables.ids(listed(layer, "trainable_variables")) or called.variables

    def _around(self, frame: FrameType | None) -> tuple[Place, ...]:
        """Where the user's code around a frame is."""
        return tuple([self._recorder.places.of(each) for each in user_frames_around(frame)])

    def is_used_apart(self, layer: Any) -> bool:
        """Whether user code has called a layer outside of a tape, and not in training mode."""
        called = self.by_layer.get(layer)
        return called is not None and any(not taped and not training for _, taped, training in called.calls)

    def gave(self, layer: Any, args: Any, kwargs: Any, result: Any, around: tuple[str, ...] | None) -> None:
        """A layer call gave a result."""
        if not self._recorder.paused:
            self.chain.called(layer, args, kwargs, result, outermost=not around)

    def left(self, around: tuple[str, ...] | None) -> None:
        if around is not None:
            self._recorder.layers = around

    def losses_were_read(self, layer: Any, *_: Any) -> None:
        if self._recorder.tapes:
            known = self._losses_read.setdefault(layer, set())
            known.update(self._recorder.tapes if len(known) < _KEPT else (_LATER,))

    def loss_was_added(self, layer: Any, *_: Any) -> None:
        self._losses_added.add(layer)

    def by_name(self) -> dict[str, set[Place]]:
        """The places where user code calls each layer."""
        found: dict[str, set[Place]] = {}
        for called in self._all:
            if called.calls:
                found.setdefault(called.name, set()).update(place for place, *_ in called.calls)
        return found

    def events(self) -> Iterator[ObjectCalled]:
        for called in self._all:
            layer = called.layer()
            inner = [] if layer is None else all_layers(layer)
            if layer is None and not called.calls:
                continue
            yield ObjectCalled(
                name=called.name,
                variables=called.variables
                if layer is None
                else self._variables.ids(listed(layer, "trainable_variables")),
                calls=tuple(
                    Call(where=span(place), callers=_spans(around), taped=taped, training=training)
                    for (place, taped, training), around in called.calls.items()
                ),
                made=_spans(called.made),
                most_in_a_pass=called.most_in_a_pass,
                mode_dependent=tuple(dict.fromkeys(str(each.name) for each in inner if is_mode_dependent(each))),
                has_statistics=bool(called.calls) and any(map(has_statistics, inner)),
                penalties=tuple(dict.fromkeys(self._penalties(inner))),
                penalties_read=frozenset(map(TapeId, self._losses_read.get(layer, ()) if layer is not None else ())),
                ready_made=layer is not None and not runs_user_code(layer),
            )

    def _penalties(self, layers: list[Any]) -> Iterator[str]:
        for layer in layers:
            if layer in self._losses_added:
                yield f"{layer.name}.add_loss"
            yield from regularisers(layer)


def _asking(layer: Any, frame: FrameType) -> FrameType:
    """The frame that called a layer; a model of legacy Keras hands the call on to the class above it."""
    frame = caller_of(frame)
    while owner_of(frame.f_code) is not CodeOwner.USER and frame.f_back is not None and _hands_on(frame, layer):
        frame = caller_of(frame.f_back)
    return frame


def _hands_on(frame: FrameType, layer: Any) -> bool:
    args = frame.f_locals.get("args")
    first = args[0] if isinstance(args, tuple) and args else None
    return layer is frame.f_locals.get("self") or layer is first


def _mode(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
    """The `training` argument of a layer call; None: not given. A tensor counts as True: it is decided elsewhere."""
    value = kwargs.get("training", args[1] if len(args) > 1 and isinstance(args[1], bool) else None)
    return value if value is None else bool(value) if isinstance(value, (bool, int)) else True


def _spans(places: tuple[Place, ...]) -> tuple[SourceSpan, ...]:
    return tuple(where for place in places if (where := span(place)) is not None)
