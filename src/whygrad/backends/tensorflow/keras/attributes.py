"""Attributes of layers and optimizers that user code sets: flags, tensors in place of variables, weights."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.called_layers import CalledLayers
from whygrad.backends.tensorflow.keras.inspection import listed, path_of
from whygrad.backends.tensorflow.keras.lists import ListReads
from whygrad.backends.tensorflow.keras.trainings import Trainings
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import VariableId
from whygrad.graph.objects import AttributeSet, Given
from whygrad.observe.place import Place, span
from whygrad.source.position import CodeOwner, owner_of

_MOST = 1024
_WEIGHTS = 64  # lists of values whose origin is remembered


@dataclass(slots=True)
class FlagChange:
    """`layer.trainable = value`; the layer may get its variables later."""

    layer: weakref.ref[Any]
    name: str
    value: bool
    place: Place
    order: int
    step: int
    running: tuple[Any, Any] | None = None  # a model that is being trained, and its training step, which has run before
    ran_on: str | None = None


class Attributes:
    def __init__(
        self, recorder: Recorder, variables: VariableBook, layers: CalledLayers, lists: ListReads, trainings: Trainings
    ) -> None:
        self._recorder = recorder
        self._variables = variables
        self._layers = layers
        self._lists = lists
        self._trainings = trainings
        trainings.on_end.append(self._training_ended)
        self.numbers: dict[tuple[int, str], dict[Place, int]] = {}  # of layers: the last change at each place
        self._flags: list[FlagChange] = []
        self._others: dict[AttributeSet, None] = {}
        self._origins: dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]] = {}  # by the first array of the values

    def flag_set(self, layer: Any, value: Any, frame: FrameType) -> None:
        while frame.f_code.co_name == "__setattr__" and frame.f_back is not None:
            frame = frame.f_back  # Keras layers route every attribute through their own `__setattr__`
        if owner_of(frame.f_code) is CodeOwner.USER and len(self._flags) < _MOST:
            recorder = self._recorder
            place, step = recorder.places.at(frame), recorder.ledger.step
            change = FlagChange(weakref.ref(layer), path_of(layer), bool(value), place, recorder.now, step)
            change.running = self._trainings.running_step()
            self._flags.append(change)

    def set_of_layer(self, layer: Any, frame: FrameType, name: str, value: Any) -> None:
        if name == "trainable" and getattr(layer, "_trainable", None) is value:
            self.flag_set(layer, value, frame)  # TensorFlow sees no change, and the setter never runs
        recorder = self._recorder
        if isinstance(value, (int, float)) and vars(layer).get(name, value) != value:
            changes = self.numbers.setdefault((id(layer), name), {})
            if len(changes) < _MOST:
                changes[recorder.places.at(frame)] = recorder.now
        self.set_of_module(layer, frame, name, value)

    def set_of_module(self, module: Any, frame: FrameType, name: str, value: Any) -> None:
        """A `tf.Module`, or a layer, whose lists forget a variable that its attribute does not hold any more."""
        if compat.id_of(value) is None:
            return
        held = vars(module).get(name)
        entry = self._variables.of(held) if hasattr(held, "assign") else None
        if entry is not None:
            recorder = self._recorder
            self._note(
                AttributeSet(
                    owner=path_of(module),
                    attribute=name,
                    given=Given.TENSOR,
                    where=span(recorder.places.at(frame)),
                    held=VariableId(entry.id),
                    step=recorder.ledger.step,
                )
            )

    def set_of_optimizer(self, optimizer: Any, base: type, frame: FrameType, name: str) -> None:
        """An attribute that the optimizer does not have, and that it does not make itself."""
        if frame.f_locals.get("self") is not optimizer and not hasattr(optimizer, name):
            self._note(
                AttributeSet(
                    owner=str(getattr(optimizer, "name", type(optimizer).__name__)),
                    attribute=name,
                    given=Given.OTHER,
                    where=span(self._recorder.places.at(frame)),
                    base=f"{base.__module__}.{base.__qualname__}",
                    known=False,
                )
            )

    def weights_read(self, layer: Any, values: Any, *_: Any) -> None:
        """Remember whose values these arrays are, as long as somebody holds the list's first."""
        if isinstance(values, list) and values:
            self._origins[id(values[0])] = (weakref.ref(values[0]), weakref.ref(layer))
            while len(self._origins) > _WEIGHTS:
                del self._origins[next(iter(self._origins))]

    def weights_set(self, layer: Any, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        weights = args[0] if args else kwargs.get("weights")
        if not isinstance(weights, (list, tuple)) or owner_of(frame.f_code) is not CodeOwner.USER:
            return
        if not weights:  # as many as the layer's own list has now
            self._lists.read_of_layer(layer, "weights", weights, frame)
            self._lists.was_handed_on(weights)
            return
        first, origin = self._origins.get(id(weights[0]), (None, None))
        source = origin() if origin is not None and first is not None and first() is weights[0] else None
        if source is not None:
            self._note(
                AttributeSet(
                    owner=path_of(layer),
                    attribute="weights",
                    given=Given.WEIGHTS,
                    where=span(self._recorder.places.at(frame)),
                    variables=self._variables.ids(listed(layer, "trainable_variables")),
                    made=span(self._layers.made_at(layer)),
                    source=path_of(source),
                    source_variables=self._variables.ids(listed(source, "trainable_variables")),
                )
            )

    def _note(self, event: AttributeSet) -> None:
        if len(self._others) < _MOST:
            self._others[event] = None

    def _training_ended(self, model: Any) -> None:
        """Whether the step that was running when a flag was set has run since, and is still the same."""
        for change in self._flags:
            if change.running is not None and change.running[0] is model:
                went_on = change.step < self._recorder.ledger.step
                if went_on and change.running[1] is compat.compiled_step(model):
                    change.ran_on = path_of(model)
                change.running = None

    def events(self) -> Iterator[AttributeSet]:
        for change in self._flags:
            layer = change.layer()
            yield AttributeSet(
                owner=change.name,
                attribute="trainable",
                given=Given.TRUE if change.value else Given.FALSE,
                where=span(change.place),
                variables=() if layer is None else self._variables.ids(listed(layer, "variables")),
                order=change.order,
                step=change.step,
                ran_on=change.ran_on,
            )
        yield from self._others
