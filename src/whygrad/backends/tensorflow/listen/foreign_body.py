"""Python functions that run as ops: what leaves TensorFlow inside their bodies."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import Departure

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.capture import Capture


class Bodies(threading.local):
    """The Python functions that are running as ops in this thread; they may run in TensorFlow's own threads."""

    def __init__(self) -> None:
        self.running: list[str] = []


def install(capture: Capture) -> None:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            function = compat.body_of(self)
            capture.bodies.running.append(getattr(function, "__name__", "py_function"))
            try:
                return original(self, *args, **kwargs)
            finally:
                capture.bodies.running.pop()

        return __call__

    capture.hooks.replace(compat.EagerFunc, "__call__", wrap)


def note_departure(capture: Capture, how: str, frame: Any) -> None:
    """A value left inside such a body."""
    where = span(capture.recorder._place(frame))
    if where is not None:
        left = Departure(how=how, where=where, function=capture.bodies.running[-1])
        if left not in capture.events[-64:]:
            capture.events.append(left)
