"""One capture of a TensorFlow program: hooks in, log, hooks out, and the frozen recording of it."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends import WatchOptions
from whygrad.backends.tensorflow import capability, compat
from whygrad.backends.tensorflow.keras import hooks as keras_hooks
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.losses import TELLING, Losses
from whygrad.backends.tensorflow.listen import custom_gradient as custom
from whygrad.backends.tensorflow.listen import departure, tape, variable_hooks
from whygrad.backends.tensorflow.listen import foreign_body as foreign
from whygrad.backends.tensorflow.listen.gradient_calls import hear_updates
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.listen.optimizers import Updates
from whygrad.backends.tensorflow.listen.tape import TapeFacts, Tapes
from whygrad.backends.tensorflow.log.op_record import Place
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Requests
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.nonfinite import attribution, call_hooks
from whygrad.backends.tensorflow.nonfinite import hooks as nonfinite_hooks
from whygrad.backends.tensorflow.nonfinite.attribution import BackwardOps
from whygrad.backends.tensorflow.nonfinite.compiled_step import CompiledSteps
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.replay.episode import Episodes
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.tap import TAPPED
from whygrad.backends.tensorflow.nonfinite.scaling import ScaleWatch
from whygrad.backends.tensorflow.nonfinite.sentinel import Sentinel
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.numbers.sparse_updates import SparseUpdates
from whygrad.backends.tensorflow.numbers.step_numbers import StepNumbers
from whygrad.graph import Event

_running: list[Capture] = []


def running_capture() -> Capture | None:
    """The capture that watches now; a recorder of a run has its ledger kept there."""
    return _running[-1] if _running else None


class Capture:
    """Created when TensorFlow is there; `join` is called again when Keras is."""

    def __init__(self, on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> None:
        self.options = options or WatchOptions()
        self.hooks = Hooks()
        self.variables = VariableBook()
        self.recorder = Recorder(self.variables)
        self.tapes = Tapes(self)
        self.recorder.still_needed = self.tapes.still_needed
        self.requests = Requests(self)
        self.updates = Updates(self)
        self.numbers = StepNumbers(self)
        self.keras = KerasFacts(self)
        self.episodes = Episodes(self.recorder)
        self.sentinel = Sentinel(self)
        self.compiled_steps = CompiledSteps(self)
        self.histories = StepHistories(self)
        self.histories.every_call = self.options.find_nan
        self.keeper = Keeper(self, self.options.keep)
        self.update_watch = UpdateWatch(self)
        self.scale_watch = ScaleWatch(self)
        self.sparse_updates = SparseUpdates(self)
        self.backward_ops: weakref.WeakKeyDictionary[Any, BackwardOps] = weakref.WeakKeyDictionary()
        self.recorder.on_write = self.updates.wrote
        self.on_settled = on_settled
        self.recorder.on_calls = self.settled
        self.tape_facts: dict[int, TapeFacts] = {}
        self.bodies = foreign.Bodies()
        self.events: list[Event] = []
        self.losses = Losses(self)
        self._joined: set[str] = set()
        self._threads = threading.local()
        self._stopped = False
        self.on_op = self._make_listener()  # one for all threads: those of a strategy share their listeners
        self.hooks.on_thread = self.recorder.change_thread

    def start(self) -> None:
        """Put the hooks of TensorFlow itself in."""
        _running.append(self)
        self._say_what_is_missing()
        self.listen()
        tape.install(self)
        departure.install(self)
        custom.install(self)
        foreign.install(self)
        variable_hooks.install(self)
        keras_hooks.install_tensorflow(self)
        attribution.install(self)
        call_hooks.install(self)
        for name in ("keras", "tf_keras"):
            module = sys.modules.get(name)
            if module is not None:
                self.join(module)

    def _say_what_is_missing(self) -> None:
        errors = [capability.MissingNameError(name) for name in capability.missing()]
        for error in errors:
            print(f"whygrad: warning: {error}", file=sys.stderr)
            if error.name.loss is capability.Loss.EVERYTHING:
                raise error

    def join(self, module: ModuleType) -> None:
        """Hook a Keras that was imported just now."""
        name = module.__name__
        if name in self._joined or not hasattr(module, "layers"):
            return
        self._joined.add(name)
        keras_hooks.install(self, module)
        nonfinite_hooks.install(self, module)
        base = module.optimizers.Optimizer
        if self.options.on_optimizer is not None:
            self.options.on_optimizer(self.hooks, base)
        hear_updates(self.hooks, base, compat.updating_method(base), self.updates)

    def listen(self) -> None:
        """Hear of the ops of this thread: TensorFlow keeps its listeners by thread."""
        if not getattr(self._threads, "heard", False):
            self._threads.heard = True
            compat.add_op_callback(self.on_op)

    def _note_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, graph: Any, frame: FrameType) -> None:
        self.recorder.on_op(op_type, inputs, attrs, outputs, graph, frame)
        if op_type in TELLING:
            self.losses.note_function(frame, graph)
        if graph is not None and op_type in TAPPED and self.keras.training:
            self.histories.taps.put(graph, outputs)

    def _make_listener(self) -> Callable[..., Any]:
        hooks, log = self.hooks, self._note_op

        def on_op(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
            if self._stopped:
                compat.stop_listening(on_op)  # a thread that outlives the watching lets go by itself
            elif outputs is not None:
                hooks.safely(log, op_type, inputs, attrs, outputs, graph, sys._getframe(1))
            # While tracing, TensorFlow hands what one listener returns to the next, None included.
            return outputs if graph is not None and compat.others_listen() else None

        return on_op

    def stop(self) -> None:
        if self in _running:
            _running.remove(self)
        self.hooks.remove()
        self._stopped = True
        compat.stop_listening(self.on_op)

    def current_graph(self) -> Any:
        """The function graph that is being traced, or None when ops run at once."""
        return compat.current_graph()

    def training_model(self) -> str | None:
        return self.keras.training_model()

    def training_place(self) -> Place:
        """For a thread that a strategy started: no frame of the user's is on its stack."""
        return None if self.bodies.running else self.keras.training_place()

    def settled(self) -> None:
        """Enough steps were seen to tell a branch not taken from a gradient that never comes."""
        self.numbers.look_again()
        if self.on_settled is not None:
            self.on_settled()
