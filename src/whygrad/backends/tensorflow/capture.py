"""One capture of a TensorFlow program: hooks in, log, hooks out, and the frozen recording of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat, custom, departure, keras_hooks, optimizers, tape, variable_hooks
from whygrad.backends.tensorflow.hooks import Hooks
from whygrad.backends.tensorflow.optimizers import Updates
from whygrad.backends.tensorflow.recorder import Recorder
from whygrad.backends.tensorflow.requests import RequestEntry, Requests
from whygrad.backends.tensorflow.tape import TapeFacts, Tapes
from whygrad.backends.tensorflow.variables import VariableBook
from whygrad.graph import Event


class Capture:
    """Created when TensorFlow is there; `join` is called again when Keras is."""

    def __init__(self, on_request: Callable[[], None] | None = None) -> None:
        self.hooks = Hooks()
        self.variables = VariableBook()
        self.recorder = Recorder(self.variables)
        self.tapes = Tapes(self)
        self.requests = Requests(self)
        self.updates = Updates(self)
        self.keras = keras_hooks.KerasFacts(self)
        self.recorder.on_write = self.updates.wrote
        self.on_request = on_request
        self.tape_facts: dict[int, TapeFacts] = {}
        self.events: list[Event] = []
        self._joined: set[str] = set()

    def start(self) -> None:
        """Put the hooks of TensorFlow itself in."""
        add, remove = compat.add_op_callback, compat.remove_op_callback
        if add is not None and remove is not None:

            def on_op(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
                if not self.hooks.broken:
                    try:
                        self.recorder.on_op(op_type, inputs, attrs, outputs, graph, sys._getframe(1))
                    except Exception as error:
                        self.hooks.fail(error)

            add(on_op)
            self.hooks.on_removal(lambda: remove(on_op))
        tape.install(self)
        departure.install(self)
        custom.install(self)
        variable_hooks.install(self)
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
        base = module.optimizers.Optimizer
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

    def request_kept(self, entry: RequestEntry) -> None:
        if self.on_request is not None:
            self.on_request()
