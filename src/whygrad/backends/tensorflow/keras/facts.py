"""What is known of Keras layers and models: made, built, called, frozen, compiled and trained where."""

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.called_places import CalledPlaces
from whygrad.backends.tensorflow.keras.calls import CompileFacts, FlagChange, LayerCalls, ListRead, StepMade, TrainCall
from whygrad.backends.tensorflow.keras.compile_history import CompileHistory
from whygrad.backends.tensorflow.keras.training_flags import TrainingFlags, flag_given
from whygrad.backends.tensorflow.log.autograph import caller_of
from whygrad.backends.tensorflow.log.positions import span
from whygrad.backends.tensorflow.log.stack import callers_of
from whygrad.graph import VariableId
from whygrad.graph.event import AttributeRebound, CopiedOntoItself
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, owner_of, user_frame

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture
    from whygrad.backends.tensorflow.log.op_record import Place

LISTS = ("trainable_variables", "trainable_weights", "variables", "weights")


@dataclass(slots=True)
class KerasFacts:
    capture: Capture
    list_reads: list[ListRead] = field(default_factory=list)
    flags: list[FlagChange] = field(default_factory=list)
    calls: weakref.WeakKeyDictionary[Any, LayerCalls] = field(default_factory=weakref.WeakKeyDictionary)
    made_variables: dict[int, tuple[weakref.ref[Any], Any]] = field(default_factory=dict)
    numbers_set: dict[tuple[int, str], tuple[Any, int]] = field(default_factory=dict)  # last change, by user code
    made: weakref.WeakKeyDictionary[Any, Any] = field(default_factory=weakref.WeakKeyDictionary)
    made_around: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = field(default_factory=weakref.WeakKeyDictionary)
    called_at: CalledPlaces = field(default_factory=CalledPlaces)  # layers that are in no other, by user code
    steps_made: weakref.WeakKeyDictionary[Any, StepMade] = field(default_factory=weakref.WeakKeyDictionary)
    compiled: weakref.WeakKeyDictionary[Any, CompileFacts] = field(default_factory=weakref.WeakKeyDictionary)
    trained: dict[Any, TrainCall] = field(default_factory=dict)
    layers_seen: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    losses_read: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    losses_added: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    losses_seen: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    weights_read: dict[int, tuple[Any, weakref.ref[Any]]] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)  # where each layer that was called was made
    training: list[tuple[Any, Place]] = field(default_factory=list)  # models being trained, and where
    history: CompileHistory = field(default_factory=CompileHistory)
    flag_uses: TrainingFlags = field(default_factory=TrainingFlags)

    def training_model(self) -> str | None:
        return self.training[-1][0].name if self.training else None

    def training_place(self) -> Place:
        return self.training[-1][1] if self.training else None

    def shown_at(self, place: Place, layers: tuple[str, ...]) -> Place:
        """Where an op is shown that ran in these layers: a layer that Keras calls by itself, where it was made.

        As in `fit`, or inside a functional or sequential model; in code of the user's own the expression is better.
        """
        made = self.places.get(layers[-1]) if layers else None
        if made is None:
            return place
        by_keras = (len(layers) > 1 and place in self.called_at) or any(key[2] == place for key in self.trained)
        return made if by_keras else place

    def entered(self, layer: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        """A layer call begins."""
        frame = caller_of(frame)
        recorder = self.capture.recorder
        if not recorder.layers and not recorder.paused and owner_of(frame.f_code) is CodeOwner.USER:
            self.flag_uses.called(layer, flag_given(args, kwargs), frame, recorder)
            variables = functools.partial(self._trainable, layer)
            self.called_at.note(layer, _path(layer), recorder._place_of(frame), variables)
        if recorder.tapes and not recorder.layers and not recorder.paused and owner_of(frame.f_code) is CodeOwner.USER:
            facts = self.calls.get(layer)
            if facts is None:
                facts = self.calls[layer] = LayerCalls(_path(layer), recorder._place(frame))
            if kwargs.get("training") is not None:
                facts.flagged = True
            else:
                facts.unflagged = True
                facts.place = recorder._place(frame)
        self.layers_seen.add(layer)
        path = _path(layer)
        recorder.layers = (*recorder.layers, path)
        if path not in self.places:
            self.places[path] = self.made.get(layer)

    def weights_were_read(self, layer: Any, values: Any) -> None:
        """Remember whose values these arrays are, as long as somebody holds the list's first."""
        if isinstance(values, list) and values:
            self.weights_read[id(values[0])] = (weakref.ref(values[0]), weakref.ref(layer))
            while len(self.weights_read) > 64:
                del self.weights_read[next(iter(self.weights_read))]

    def weights_were_set(self, layer: Any, values: Any, frame: FrameType) -> None:
        """A copy from one network to another that has the very same variables copies nothing, nor does an empty one."""
        if not isinstance(values, (list, tuple)) or owner_of(frame.f_code) is not CodeOwner.USER:
            return
        if not values:
            self.list_was_read(layer, "weights", values, frame)
            self.list_was_used(values)
            return
        first, giver = self.weights_read.get(id(values[0]), (None, None))
        other = giver() if giver is not None and first is not None and first() is values[0] else None
        if other is None or other is layer:
            return
        mine = self._ids(layer.trainable_variables)
        if mine and set(mine) == set(self._ids(other.trainable_variables)):
            where = span(self.capture.recorder._place(frame))
            made = span(self.made.get(layer))
            ids = tuple(map(VariableId, mine))
            event = CopiedOntoItself(source=_path(other), target=_path(layer), variables=ids, where=where, made=made)
            if event not in self.capture.events:
                self.capture.events.append(event)

    def was_made(self, layer: Any, frame: FrameType) -> None:
        found = user_frame(frame)
        self.made[layer] = self.capture.recorder._place_of(found)
        self.made_around[layer] = callers_of(found)

    def left(self) -> None:
        self.capture.recorder.layers = self.capture.recorder.layers[:-1]

    def list_was_read(self, layer: Any, attribute: str, value: Any, frame: FrameType) -> None:
        if owner_of(frame.f_code) is not CodeOwner.USER or _is_built(layer) or len(self.list_reads) > 256:
            return
        place = self.capture.recorder._place(frame)
        self.list_reads.append(ListRead(weakref.ref(layer), _path(layer), attribute, place, value))

    def list_was_used(self, value: Any) -> None:
        self.look_at_lists()
        for read in self.list_reads:
            if read.value is value:
                read.used = True

    def look_at_lists(self) -> None:
        """Keep what the lists hold by now: the models may be gone when the report is made."""
        for read in self.list_reads:
            layer = read.layer() if read.later is None else None
            if layer is not None and _is_built(layer):
                read.later = tuple(self._ids(listed(layer, read.attribute)))

    def flag_was_set(self, layer: Any, value: bool, frame: FrameType) -> None:
        while frame.f_code.co_name == "__setattr__" and frame.f_back is not None:
            frame = frame.f_back  # Keras layers route every attribute through their own `__setattr__`
        if owner_of(frame.f_code) is CodeOwner.USER and len(self.flags) < 1024:
            recorder = self.capture.recorder
            place = recorder._place(frame)
            change = FlagChange(
                weakref.ref(layer), _path(layer), bool(value), place, recorder.now, recorder.ledger.step
            )
            if self.training and self.capture.current_graph() is None:
                change.running = self._running(self.training[-1][0])
            self.flags.append(change)

    def attribute_was_set(self, layer: Any, name: str, value: Any, frame: FrameType) -> None:
        if owner_of(frame.f_code) is not CodeOwner.USER:
            return
        if name == "trainable" and getattr(layer, "_trainable", None) is value:
            self.flag_was_set(layer, bool(value), frame)  # TensorFlow sees no change, and the setter never runs
        if isinstance(value, (int, float)) and vars(layer).get(name, value) != value:
            self.numbers_set[(id(layer), name)] = (self.capture.recorder._place(frame), self.capture.recorder.now)
        if getattr(value, "_id", None) is None:
            return
        held = vars(layer).get(name)
        entry = self.capture.variables.of(held) if hasattr(held, "assign") else None
        if entry is not None:
            where = span(self.capture.recorder._place(frame))
            path = str(getattr(held, "path", None) or entry.name)
            self.capture.events.append(AttributeRebound(layer=_path(layer), attribute=name, variable=path, where=where))

    def was_compiled(self, model: Any, kwargs: dict[str, Any], args: tuple[Any, ...], frame: FrameType) -> None:
        has_loss = kwargs.get("loss", args[1] if len(args) > 1 else None) is not None
        self.steps_made.pop(model, None)
        place = self.capture.recorder._place(frame)
        trainable = frozenset(self._trainable(model))
        self.compiled[model] = CompileFacts(place, has_loss, trainable)
        self.history.compiled(model, place, trainable)

    def training_began(self, model: Any, method: str, frame: FrameType) -> None:
        self.capture.recorder.ledger.steps_per_run = max(1, compat.steps_per_execution(model))
        place = self.capture.recorder._place(frame)
        self.training.append((model, place))
        key = (id(model), method, place)
        known = self.trained.get(key)
        trainable = self._trainable(model)
        if known is not None and known.trainable == trainable:
            known.count += 1
            known.order = self.capture.recorder.now
            return
        compiled = self.compiled.get(model)
        before = compiled.trainable if compiled is not None else frozenset(trainable)
        frozen = self._ids(_flagged_off(model))
        stale, added = self._changed_since_made(model, trainable), self._added_since_made(model, trainable)
        self._note_own_loss(model)
        as_compiled = compat.trains_as_compiled(model) and compiled is not None
        thawed_since = tuple(number for number in trainable if number not in before)
        frozen_since = tuple(number for number in frozen if number in before)
        if as_compiled:  # flags that were set since do not count
            trainable = (*(n for n in trainable if n in before), *frozen_since)
            frozen = (*(n for n in frozen if n not in before), *thawed_since)
        self.trained[key] = TrainCall(
            weakref.ref(model),
            _path(model),
            method,
            place,
            trainable,
            frozen,
            thawed_since,
            frozen_since,
            stale=0 if as_compiled else stale,
            added=added,
            as_compiled=as_compiled,
            order=self.capture.recorder.now,
        )

    def training_failed(self, model: Any, error: Exception) -> None:
        for call in self.trained.values():
            if call.layer() is model:
                call.raised = f"{type(error).__name__}: {error}"

    def _step_made(self, model: Any, trainable: tuple[int, ...]) -> StepMade:
        known = frozenset(self._ids(listed(model, "variables")))
        return StepMade(frozenset(trainable), known, self.capture.recorder.ledger.step)

    def _running(self, model: Any) -> tuple[Any, Any] | None:
        """The compiled training step of a model, if it has been traced: then it reads no flags any more."""
        made, step = self.steps_made.get(model), compat.compiled_step(model)
        late = made is not None and made.since < self.capture.recorder.ledger.step
        return (model, step) if late and step is not None else None

    def _changed_since_made(self, model: Any, trainable: tuple[int, ...]) -> int:
        """Variables whose flag has changed since the model's training step was made; new ones do not count."""
        made = self.steps_made.get(model)
        if made is None and trainable:
            self.steps_made[model] = self._step_made(model, trainable)
        still = set(self._ids(listed(model, "variables")))
        return 0 if made is None else len((made.trainable ^ set(trainable)) & made.known & still)

    def _added_since_made(self, model: Any, trainable: tuple[int, ...]) -> tuple[int, ...]:
        """Variables of layers that came after the model's training step was compiled, and that it will not train."""
        made = self.steps_made.get(model)
        if made is None or not made.settled or compat.compiled_step(model) is None:
            return ()
        return tuple(number for number in trainable if number not in made.known)

    def _note_own_loss(self, model: Any) -> None:
        """A `compute_loss` of the user's own has to add the penalties itself: it counts as a call of the model."""
        code = getattr(getattr(type(model), "compute_loss", None), "__code__", None)
        if code is not None and owner_of(code) is CodeOwner.USER and model not in self.calls:
            self.calls[model] = LayerCalls(_path(model), SourceSpan(code.co_filename, code.co_firstlineno))
            self.calls[model].flagged = True

    def training_ended(self) -> None:
        model, _ = self.training.pop()
        made = self.steps_made.get(model)
        if made is not None and not made.settled:
            made.settled, now = True, self._step_made(model, self._trainable(model))
            made.trainable |= now.trainable - made.known
            made.known |= now.known
        for change in self.flags:
            if change.running is not None and change.running[0] is model:
                went_on = change.step < self.capture.recorder.ledger.step
                if went_on and change.running[1] is compat.compiled_step(model):
                    change.without_effect = _path(model)
                change.running = None
        self.capture.recorder.ledger.steps_per_run = 1

    def _trainable(self, layer: Any) -> tuple[int, ...]:
        return self._ids(listed(layer, "trainable_variables"))

    def _ids(self, variables: Any) -> tuple[int, ...]:
        found = (self.capture.variables.of(variable) for variable in variables)
        return tuple(entry.id for entry in found if entry is not None)


def _flagged_off(model: Any) -> list[Any]:
    """Weights that would train but for a flag; statistics and counters are not meant."""
    own = {id(v) for v in listed(model, "trainable_variables")}
    frozen = []
    for layer in all_layers(model):
        for variable in [*getattr(layer, "_trainable_variables", ()), *getattr(layer, "_trainable_weights", ())]:
            if id(variable) not in own:
                frozen.append(variable)
    return frozen


def listed(layer: Any, attribute: str) -> list[Any]:
    """A list of a layer's variables; tf_keras raises where a model has none yet."""
    try:
        return list(getattr(layer, attribute, None) or ())
    except ValueError:
        return []


def all_layers(layer: Any) -> list[Any]:
    try:
        return list(layer._flatten_layers())
    except Exception:
        return [layer]


def _is_built(layer: Any) -> bool:
    return all(getattr(each, "built", True) for each in all_layers(layer))


def _path(layer: Any) -> str:
    return str(getattr(layer, "path", None) or getattr(layer, "name", type(layer).__name__))
