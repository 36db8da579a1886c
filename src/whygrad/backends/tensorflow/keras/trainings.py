"""Models that are compiled and trained: with which flags, for which variables, and with which training step."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.failures import classify
from whygrad.backends.tensorflow.keras.inspection import held_back, listed, path_of
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.graph import Failure, VariableId
from whygrad.graph.objects import Compiled, CompiledMetric, Trained
from whygrad.observe.place import Place, span
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, owner_of

_MOST = 1024  # times that something is compiled

OptimizerFacts = Callable[[Any], tuple[int, bool]]  # which one it is, and whether it keeps moments


@dataclass(slots=True)
class StepMade:
    """What a model's training step was made for."""

    trainable: tuple[VariableId, ...]
    known: tuple[VariableId, ...]  # all variables that were there
    since: int  # training steps made by then
    settled: bool = False  # a model that builds itself has done so


class Trainings:
    def __init__(
        self, recorder: Recorder, variables: VariableBook, optimizer: OptimizerFacts, running: list[tuple[Any, Place]]
    ) -> None:
        self._recorder = recorder
        self._variables = variables
        self._of_optimizer = optimizer
        self.on_end: list[Callable[[Any], None]] = []
        self.running = running
        self.places: set[Place] = set()
        self._compiled: list[Compiled] = []
        self._last: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # of `_compiled`, by model
        self._steps: weakref.WeakKeyDictionary[Any, StepMade] = weakref.WeakKeyDictionary()
        self._trained: dict[tuple[int, str, Place], Trained] = {}

    def compiled(self, model: Any, _: None, frame: FrameType, args: Any, kwargs: Any) -> None:
        self._steps.pop(model, None)
        optimizer = getattr(model, "optimizer", None)
        number, stateful = (0, False) if optimizer is None else self._of_optimizer(optimizer)
        if len(self._compiled) < _MOST:
            self._last[model] = len(self._compiled)
            self._compiled.append(
                Compiled(
                    model=path_of(model),
                    where=span(self._recorder.places.at(frame)),
                    has_loss=kwargs.get("loss", args[1] if len(args) > 1 else None) is not None,
                    metrics_as_weights=len(args) > 2 and compat.weighs_third(model) and _are_metrics(args[2]),
                    trainable=self._trainable(model) if listed(model, "variables") else None,
                    metrics=tuple(_metrics(kwargs.get("metrics"))),
                    optimizer=number,
                    stateful=stateful,
                )
            )

    def began(self, model: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        recorder = self._recorder
        recorder.ledger.steps_per_run = max(1, compat.steps_per_execution(model))
        place = recorder.places.at(frame)
        self.running.append((model, place))
        self.places.add(place)
        self._count_epochs(model, _epochs(args, kwargs) if method == "fit" else 0)
        key = (id(model), method, place)
        known, trainable = self._trained.get(key), self._trainable(model)
        if known is not None and known.trainable == trainable:
            self._trained[key] = replace(known, seen=known.seen + 1, order=recorder.now)
        else:
            self._trained[key] = self._training_of(model, place, trainable)

    def _count_epochs(self, model: Any, epochs: int) -> None:
        number = self._last.get(model)
        if number is not None:
            before = self._compiled[number]
            self._compiled[number] = replace(before, trained=True, epochs=before.epochs + epochs)

    def _training_of(self, model: Any, place: Place, trainable: tuple[VariableId, ...]) -> Trained:
        number, made = self._last.get(model), self._steps.get(model)
        if made is None and trainable:
            self._steps[model] = self._step_of(model)
        return Trained(
            model=path_of(model),
            where=span(place),
            trainable=trainable,
            frozen=self._variables.ids(held_back(model)),
            trainable_when_compiled=None if number is None else self._when_compiled(model, number),
            trains_as_compiled=compat.trains_as_compiled(model),
            trainable_when_made=None if made is None else made.trainable,
            known_when_made=() if made is None else made.known,
            runs_compiled=made is not None and made.settled and compat.compiled_step(model) is not None,
            own_loss=_own_loss(model),
            order=self._recorder.now,
        )

    def _when_compiled(self, model: Any, number: int) -> tuple[VariableId, ...] | None:
        known, then = self._compiled[number].trainable, compat.trainable_when_compiled(model)
        return self._variables.ids(then) if known is None and then else known

    def failed(self, model: Any, error: Exception) -> None:
        raised = classify(Failure(type_name=type(error).__name__, message=str(error))).kind
        for key, event in self._trained.items():
            if key[0] == id(model):
                self._trained[key] = replace(event, raised=raised)

    def ended(self) -> None:
        model, _ = self.running.pop()
        made = self._steps.get(model)
        if made is not None and not made.settled:
            now = self._step_of(model)
            fresh = tuple(number for number in now.trainable if number not in made.known)
            made.trainable, made.known, made.settled = made.trainable + fresh, made.known + now.known, True
        for note in self.on_end:
            note(model)
        self._recorder.ledger.steps_per_run = 1

    def compiled_as(self, model: Any) -> Compiled | None:
        """How a model was compiled last."""
        number = self._last.get(model)
        return None if number is None else self._compiled[number]

    def running_step(self) -> tuple[Any, Any] | None:
        """The model in training and its compiled step, if that has been traced: then it reads no flags any more."""
        if not self.running or compat.current_graph() is not None:
            return None
        model = self.running[-1][0]
        made, step = self._steps.get(model), compat.compiled_step(model)
        late = made is not None and made.since < self._recorder.ledger.step
        return (model, step) if late and step is not None else None

    def events(self) -> Iterator[Compiled | Trained]:
        yield from self._compiled
        yield from self._trained.values()

    def _step_of(self, model: Any) -> StepMade:
        known = self._variables.ids(listed(model, "variables"))
        return StepMade(self._trainable(model), known, self._recorder.ledger.step)

    def _trainable(self, model: Any) -> tuple[VariableId, ...]:
        return self._variables.ids(listed(model, "trainable_variables"))


def _are_metrics(given: Any) -> bool:
    """Names or objects, where numbers would be weights."""
    values = given if isinstance(given, (list, tuple)) else [given]
    return bool(values) and all(isinstance(each, str) or callable(each) for each in values)


def _metrics(given: Any) -> Iterator[CompiledMetric]:
    if isinstance(given, (list, tuple)) and any(isinstance(each, (list, tuple)) for each in given):
        given = {str(number): each for number, each in enumerate(given)}
    parts = given if isinstance(given, dict) else {"": given}
    for output, metrics in parts.items():
        for each in compat.flatten(metrics) if metrics is not None else ():
            numbers = getattr(each, "sparse_y_pred", False) is True and not hasattr(each, "threshold")
            name = str(getattr(each, "name", None) or getattr(each, "__name__", each))
            yield CompiledMetric(output=str(output), name=name, of_class_numbers=numbers)


def _epochs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return int(kwargs.get("epochs", args[3] if len(args) > 3 else 1)) - int(kwargs.get("initial_epoch", 0))


def _own_loss(model: Any) -> SourceSpan | None:
    """Where a `compute_loss` of the user's own stands."""
    code = getattr(getattr(type(model), "compute_loss", None), "__code__", None)
    own = code is not None and owner_of(code) is CodeOwner.USER
    return SourceSpan(code.co_filename, code.co_firstlineno) if own and code is not None else None
