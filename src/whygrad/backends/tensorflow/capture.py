"""One capture of a TensorFlow program: hooks in, log, hooks out, and the frozen recording of it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from whygrad.backends import WatchOptions
from whygrad.backends.tensorflow import (
    compat,
    custom,
    departure,
    foreign,
    guard_hooks,
    keras_hooks,
    optimizers,
    tape,
    variable_hooks,
)
from whygrad.backends.tensorflow.guard_hooks import Guards
from whygrad.backends.tensorflow.hooks import Hooks
from whygrad.backends.tensorflow.nonfinite import attribution, call_hooks
from whygrad.backends.tensorflow.nonfinite import hooks as nonfinite_hooks
from whygrad.backends.tensorflow.nonfinite.attribution import BackwardOps
from whygrad.backends.tensorflow.nonfinite.episode import Episodes
from whygrad.backends.tensorflow.nonfinite.flight import Flights
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.sentinel import Sentinel
from whygrad.backends.tensorflow.nonfinite.tap import TAPPED
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.optimizers import Updates
from whygrad.backends.tensorflow.recorder import Recorder
from whygrad.backends.tensorflow.requests import Requests
from whygrad.backends.tensorflow.tape import TapeFacts, Tapes
from whygrad.backends.tensorflow.variables import VariableBook
from whygrad.graph import Event


class Capture:
    """Created when TensorFlow is there; `join` is called again when Keras is."""

    def __init__(self, on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> None:
        self.options = options or WatchOptions()
        self.hooks = Hooks()
        self.variables = VariableBook()
        self.recorder = Recorder(self.variables)
        self.tapes = Tapes(self)
        self.requests = Requests(self)
        self.updates = Updates(self)
        self.keras = keras_hooks.KerasFacts(self)
        self.episodes = Episodes(self.recorder)
        self.sentinel = Sentinel(self)
        self.flights = Flights(self)
        self.flights.every_call = self.options.find_nan
        self.guards = Guards(self.options.guard)
        self.keeper = Keeper(self, self.options.keep)
        self.update_watch = UpdateWatch(self)
        self.backward_ops: weakref.WeakKeyDictionary[Any, BackwardOps] = weakref.WeakKeyDictionary()
        self.recorder.on_write = self.updates.wrote
        self.on_settled = on_settled
        self.recorder.on_calls = self.settled
        self.tape_facts: dict[int, TapeFacts] = {}
        self.bodies = foreign.Bodies()
        self.events: list[Event] = []
        self._joined: set[str] = set()

    def start(self) -> None:
        """Put the hooks of TensorFlow itself in."""
        add, remove = compat.add_op_callback, compat.remove_op_callback
        if add is not None and remove is not None:

            def on_op(
                op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
            ) -> Any:
                if not self.hooks.broken and outputs is not None:
                    try:
                        self.recorder.on_op(op_type, inputs, attrs, outputs, graph, sys._getframe(1))
                        if graph is not None and op_type in TAPPED and self.keras.training:
                            self.flights.taps.put(graph, outputs)
                    except Exception as error:
                        self.hooks.fail(error)
                # While tracing, TensorFlow hands what one listener returns to the next, None included.
                return outputs if graph is not None and compat.others_listen() else None

            add(on_op)
            self.hooks.on_removal(lambda: remove(on_op))
        tape.install(self)
        departure.install(self)
        custom.install(self)
        foreign.install(self)
        variable_hooks.install(self)
        attribution.install(self)
        call_hooks.install(self)
        for name in ("keras", "tf_keras"):
            module = sys.modules.get(name)
            if module is not None:
                self.join(module)

    def join(self, module: ModuleType) -> None:
        """Hook a Keras that was imported just now."""
        name = module.__name__
        if name in self._joined or not hasattr(module, "layers"):
            return
        self._joined.add(name)
        keras_hooks.install(self, module)
        nonfinite_hooks.install(self, module)
        base = module.optimizers.Optimizer
        if self.options.guard is not None:
            guard_hooks.install(self, base)
        optimizers.install(self, base, "apply" if hasattr(base, "apply") else "apply_gradients")

    def stop(self) -> None:
        self.hooks.remove()

    def current_graph(self) -> Any:
        """The function graph that is being traced, or None when ops run at once."""
        assert compat.ops is not None
        if compat.ops.executing_eagerly_outside_functions() and compat.ops.inside_function():
            return compat.ops.get_default_graph()
        return None

    def training_model(self) -> str | None:
        return self.keras.training_model()

    def settled(self) -> None:
        """Enough steps were seen to tell a branch not taken from a gradient that never comes."""
        if self.on_settled is not None:
            self.on_settled()
