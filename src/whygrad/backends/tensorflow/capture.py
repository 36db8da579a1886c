"""One capture of a TensorFlow program: hooks in, log, hooks out, and the frozen recording of it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends import WatchOptions
from whygrad.backends.tensorflow import capability, compat
from whygrad.backends.tensorflow.freeze.recording import Freezer
from whygrad.backends.tensorflow.freeze.request_graph import freeze
from whygrad.backends.tensorflow.freeze.traced_functions import traced_functions
from whygrad.backends.tensorflow.keras import hooks as keras_hooks
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.losses import TELLING
from whygrad.backends.tensorflow.listen import custom_gradient as custom
from whygrad.backends.tensorflow.listen import departure, tape, variable_hooks
from whygrad.backends.tensorflow.listen import foreign_body as foreign
from whygrad.backends.tensorflow.listen.gradient_calls import hear_updates
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.listen.op_listener import OpListener
from whygrad.backends.tensorflow.log.episode import Episodes
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Requests
from whygrad.backends.tensorflow.log.tapes import Tapes
from whygrad.backends.tensorflow.log.updates import Updates, is_stateful
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.nonfinite import attribution, call_hooks
from whygrad.backends.tensorflow.nonfinite import hooks as nonfinite_hooks
from whygrad.backends.tensorflow.nonfinite.compiled_step import CompiledSteps
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries
from whygrad.backends.tensorflow.nonfinite.formula import Formulas
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.tap import TAPPED
from whygrad.backends.tensorflow.nonfinite.scaling import ScaleWatch
from whygrad.backends.tensorflow.nonfinite.sentinel import Sentinel
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.backends.tensorflow.numbers.sparse_updates import SparseUpdates
from whygrad.backends.tensorflow.numbers.step_numbers import StepNumbers
from whygrad.notice import warn

_running: list[Capture] = []


def running_capture() -> Capture | None:
    """The capture that watches now; a recorder of a run has its ledger kept there."""
    return _running[-1] if _running else None


class Capture:
    """Created when TensorFlow is there; `join` is called again when Keras is."""

    def __init__(self, on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> None:
        self.options = options or WatchOptions()
        self.hooks = Hooks()
        self.variables = book = VariableBook()
        self.recorder = recorder = Recorder(book)
        self.bodies = foreign.Bodies()
        self.keras = KerasFacts(recorder, book, self._optimizer_facts, self.bodies)
        episodes = Episodes(recorder)
        self.tapes = Tapes(recorder, book, episodes)
        self.requests = Requests(recorder, book, self.tapes, episodes, self.keras)
        self.requests.freeze = functools.partial(freeze, recorder, self.keras)
        self.updates = Updates(recorder, book, episodes, self.keras.training_place)
        self.histories = StepHistories(recorder, book, every_call=self.options.find_nan)
        self.numbers = StepNumbers(recorder, book, self.histories.scaled)
        self.sparse_updates = SparseUpdates(book, self.numbers)
        self.keeper = Keeper(book, self.options.keep)
        self.watched = Watched(recorder, book, self.keras.shown_at)
        self._assemble_nonfinite()
        self._connect()
        if on_settled is not None:
            recorder.on_settled.append(on_settled)
        self.listener = OpListener(self.hooks, self._note_op)
        self._joined: set[str] = set()

    def _assemble_nonfinite(self) -> None:
        recorder, book, discoveries = self.recorder, self.variables, Discoveries()
        scale_watch = ScaleWatch(recorder, book, self.requests, self.updates)
        guarded = self.options.on_optimizer is not None
        self.update_watch = UpdateWatch(
            recorder, book, self.updates, discoveries, scale_watch, self.histories, guarded=guarded
        )
        self.sentinel = Sentinel(self.watched, discoveries, self.update_watch, self.keeper)
        self.formulas = Formulas(self.watched, self.histories)
        self.compiled_steps = CompiledSteps(self.watched, self.sentinel, self.update_watch, scale_watch, self.histories)

    def _connect(self) -> None:
        """Who hears of what, in this order."""
        recorder, requests, updates = self.recorder, self.requests, self.updates
        self.hooks.on_thread = recorder.change_thread
        recorder.still_needed = self.tapes.still_needed
        recorder.on_write = updates.wrote
        recorder.on_settled.append(self.numbers.look_again)
        requests.on_eager += [self.sentinel.look, self.numbers.ran]
        requests.on_traced += [self.histories.traced, self.numbers.traced]
        updates.on_begin += [self.sparse_updates.note, self.update_watch.begin]
        updates.on_end.append(self.update_watch.after)
        updates.on_write.append(self.update_watch.wrote)
        self.histories.went_bad = self.compiled_steps.went_bad
        events = (
            self.keras.events,
            lambda: dict.fromkeys(recorder.events),
            lambda: traced_functions(recorder.traced, self.keras.attributes.numbers),
            recorder.folds.events,
            self.sparse_updates.events,
            self.compiled_steps.events,
            self.update_watch.events,
            self.formulas.events,
        )
        self.freezer = Freezer(recorder, self.keras, requests, updates, self.numbers, events)

    def start(self) -> None:
        """Put the hooks of TensorFlow itself in."""
        hooks, recorder = self.hooks, self.recorder
        _running.append(self)
        self._say_what_is_missing()
        self.listener.listen()
        tape.install(hooks, self.tapes, self.requests, self.listener)
        departure.install(hooks, recorder, self.bodies)
        custom.install(hooks, recorder)
        foreign.install(hooks, self.bodies)
        variable_hooks.install(hooks, recorder, self.requests)
        keras_hooks.install_tensorflow(hooks, self.keras)
        attribution.install(hooks, recorder, self.watched.backward_ops)
        call_hooks.install(hooks, self.histories)
        for name in ("keras", "tf_keras"):
            module = sys.modules.get(name)
            if module is not None:
                self.join(module)

    def _say_what_is_missing(self) -> None:
        errors = [capability.MissingNameError(name) for name in capability.missing()]
        for error in errors:
            warn(str(error))
            if error.name.loss is capability.Loss.EVERYTHING:
                raise error

    def join(self, module: ModuleType) -> None:
        """Hook a Keras that was imported just now."""
        name = module.__name__
        if name in self._joined or not hasattr(module, "layers"):
            return
        self._joined.add(name)
        keras_hooks.install(self.hooks, self.keras, module)
        nonfinite_hooks.install(self.hooks, self.updates, self.update_watch, module)
        base = module.optimizers.Optimizer
        if self.options.on_optimizer is not None:
            self.options.on_optimizer(self.hooks, base)
        hear_updates(self.hooks, base, compat.updating_method(base), self.updates)

    def _note_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, graph: Any, frame: FrameType) -> None:
        self.recorder.on_op(op_type, inputs, attrs, outputs, graph, frame)
        if op_type in TELLING:
            self.keras.losses.note_function(frame, graph)
        if graph is not None and op_type in TAPPED and self.keras.training:
            self.histories.taps.put(graph, outputs)

    def stop(self) -> None:
        if self in _running:
            _running.remove(self)
        self.hooks.remove()
        self.listener.stop()

    def _optimizer_facts(self, optimizer: Any) -> tuple[int, bool]:
        return self.updates.number(optimizer), is_stateful(optimizer)
