"""What is known of Keras objects, by what was done with them; each part is made when it is first told something."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.attributes import Attributes
from whygrad.backends.tensorflow.keras.by_hand import ByHand
from whygrad.backends.tensorflow.keras.called_layers import CalledLayers
from whygrad.backends.tensorflow.keras.lists import ListReads
from whygrad.backends.tensorflow.keras.losses import Losses
from whygrad.backends.tensorflow.keras.objectives import Objectives
from whygrad.backends.tensorflow.keras.trainings import OptimizerFacts, Trainings
from whygrad.backends.tensorflow.listen.foreign_body import Bodies
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import Event
from whygrad.graph.learning import Objective
from whygrad.observe.place import Place


class KerasFacts:
    def __init__(self, recorder: Recorder, variables: VariableBook, optimizer: OptimizerFacts, bodies: Bodies) -> None:
        self._bodies = bodies
        self._recorder = recorder
        self._variables = variables
        self._optimizer = optimizer
        self._frameworks: list[ModuleType] = []
        self.running: list[tuple[Any, Place]] = []  # models being trained, and where
        self.on_tap: Callable[[Any], None] = lambda handle: None  # told of each variable that a step leaves values in
        self.made_variables: dict[int, tuple[weakref.ref[Any], Place]] = {}  # that get their values later

    @cached_property
    def called_at(self) -> CalledLayers:
        return CalledLayers(self._recorder, self._variables)

    @cached_property
    def lists(self) -> ListReads:
        return ListReads(self._recorder, self._variables, self.called_at)

    @cached_property
    def trainings(self) -> Trainings:
        return Trainings(self._recorder, self._variables, self._optimizer, self.running)

    @cached_property
    def attributes(self) -> Attributes:
        return Attributes(self._recorder, self._variables, self.called_at, self.lists, self.trainings)

    @cached_property
    def losses(self) -> Losses:
        return Losses(self._recorder, self._frameworks, lambda *it: self.objectives.called(*it))

    @cached_property
    def by_hand(self) -> ByHand:
        return ByHand(self.called_at.chain, lambda *it: self.objectives.called(*it))

    @cached_property
    def objectives(self) -> Objectives:
        called = self.called_at
        return Objectives(self._recorder, called.chain, self.trainings, self.on_tap, called.is_used_apart)

    def training_began(self, model: Any, method: str, args: Any, kwargs: Any, frame: FrameType) -> None:
        self.trainings.began(model, method, args, kwargs, frame)
        self.objectives.began(model, method, args, kwargs)

    def loss_called(self, loss: Any, frame: FrameType, args: Any, kwargs: Any) -> None:
        self.objectives.compared(loss, frame, args, kwargs)
        self.losses.note_object(loss, frame, args, kwargs)

    def _made(self, *names: str) -> Iterator[Any]:
        return (vars(self)[name] for name in names if name in vars(self))

    def joined(self, framework: ModuleType) -> None:
        """TensorFlow or a Keras, whose loss functions are known by their code."""
        self._frameworks.append(framework)
        for losses in self._made("losses"):
            losses.learn(framework)

    @property
    def layers_seen(self) -> list[Any]:
        """The layers that were called, as far as they are still there."""
        return [layer for part in self._made("called_at") for layer in part.by_layer]

    @property
    def losses_seen(self) -> list[Any]:
        return [loss for part in self._made("losses") for loss in part.seen]

    def training_model(self) -> str | None:
        return self.running[-1][0].name if self.running else None

    def training_place(self) -> Place:
        """For a thread that a strategy started: no frame of the user's is on its stack."""
        return self.running[-1][1] if self.running and not self._bodies.running else None

    def shown_at(self, place: Place, layers: tuple[str, ...]) -> Place:
        """Where an op is shown that ran in these layers: a layer that Keras calls by itself, where it was made.

        As in `fit`, or inside a functional or sequential model; in code of the user's own the expression is better.
        """
        made = self.called_at.made_by_name.get(layers[-1]) if layers else None
        if made is None:
            return place
        by_keras = (len(layers) > 1 and place in self.called_at) or place in self.trainings.places
        return made if by_keras else place

    def variable_made(self, variable: Any, _: None, frame: FrameType, *rest: Any) -> None:
        """A ready-made layer makes its variables when it is first called: they are shown where the layer was made."""
        self._variables.link_keras(variable, self._recorder.places.at(frame))
        made = self.called_at.made_for_weight(frame)
        entry = None if made is None else self._variables.of(variable)
        if entry is not None:
            entry.created = made
        elif made is not None:  # its value comes later: remember it by the variable
            self.made_variables[id(variable)] = (weakref.ref(variable), made)

    def predicted_from(self, model: Any, frame: FrameType, args: Any, kwargs: Any) -> None:
        """What `predict` is given leaves TensorFlow: arrays come back."""
        self.objectives.evaluated(model)
        for item in () if self._recorder.paused else compat.flatten(args[:1] or kwargs.get("x")):
            if (number := compat.id_of(item)) is not None and compat.current_graph() is None:
                self._recorder.on_departure(number, ".predict()", None, self._recorder.places.at(frame))

    def list_was_used(self, value: Any) -> None:
        for lists in self._made("lists"):
            lists.was_handed_on(value)

    def step_ran(self, times: int) -> None:
        """So many compiled training steps are over."""
        for objectives in self._made("objectives"):
            objectives.step_ran(times)

    def objectives_seen(self) -> tuple[Objective, ...]:
        return tuple(each for part in self._made("objectives") for each in part.facts())

    def events(self) -> Iterator[Event]:
        for part in self._made("lists", "attributes", "trainings", "called_at"):
            yield from part.events()
