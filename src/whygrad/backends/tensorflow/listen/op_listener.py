"""The ops that run, in each thread that is watched."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks


class OpListener:
    """One for all threads: those of a strategy share their listeners."""

    def __init__(self, hooks: Hooks, note: Callable[..., None], ignores: Callable[[Any, Any], bool]) -> None:
        self._threads = threading.local()
        self._stopped = False
        self._on_op = self._made(hooks, note, ignores)

    def listen(self) -> None:
        """Hear of the ops of this thread: TensorFlow keeps its listeners by thread."""
        if not getattr(self._threads, "heard", False):
            self._threads.heard = True
            compat.add_op_callback(self._on_op)

    def unheard(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function whose ops in this thread are noted by others; TensorFlow need not even tell of them."""
        listeners, on_op = compat.listeners(), self._on_op
        if on_op not in listeners:
            return function(*args)
        listeners.remove(on_op)
        try:
            return function(*args)
        finally:
            listeners.append(on_op)

    def is_alone(self) -> bool:
        """Whether nobody else hears of the ops of this thread."""
        listeners = compat.listeners()
        return not listeners or (len(listeners) == 1 and listeners[0] is self._on_op)

    def hush(self) -> Callable[[], None] | None:
        """Hear of no ops of this thread until what is returned is called; None where nothing was heard anyway."""
        listeners, on_op = compat.listeners(), self._on_op
        if on_op not in listeners:
            return None
        listeners.remove(on_op)
        return lambda: listeners.append(on_op)

    def stop(self) -> None:
        self._stopped = True
        compat.stop_listening(self._on_op)

    def _made(self, hooks: Hooks, note: Callable[..., None], ignores: Callable[[Any, Any], bool]) -> Callable[..., Any]:
        def on_op(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
            if self._stopped:
                compat.stop_listening(on_op)  # a thread that outlives the watching lets go by itself
            elif outputs is not None and not ignores(op_type, graph):
                hooks.safely(note, op_type, inputs, attrs, outputs, graph, sys._getframe(1))
            # While tracing, TensorFlow hands what one listener returns to the next, None included.
            return outputs if graph is not None and compat.others_listen() else None

        return on_op
