"""Python functions that run as ops: what leaves TensorFlow inside their bodies."""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.graph import Departure
from whygrad.observe.place import span

_MOST_KEPT = 16  # functions, and calls of one of them in a step
_LARGEST_KEPT = 20_000  # elements of the results of one call


class Bodies(threading.local):
    """The Python functions that are running as ops in this thread; they may run in TensorFlow's own threads."""

    def __init__(self) -> None:
        self.running: list[str] = []


def install(hooks: Hooks, recorder: Recorder, bodies: Bodies) -> None:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            function = compat.body_of(self)
            bodies.running.append(getattr(function, "__name__", "py_function"))
            try:
                return original(self, *args, **kwargs)
            finally:
                bodies.running.pop()

        return __call__

    def wrap_numpy(original: Any) -> Any:
        def py_func_common(func: Any, inp: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(func, inp, *args, **kwargs)
            if compat.current_graph() is None:  # else it is an op like any other
                hooks.safely(recorder.on_numpy_function, inp, result, sys._getframe(1))
            return result

        return py_func_common

    def wrap_all(original: Any) -> Any:
        def __call__(self: Any, token: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            given = original(self, token, *args, **kwargs)
            hooks.safely(keep, recorder.python_gave, token, given)
            return given

        return __call__

    hooks.replace(compat.EagerFunc, "__call__", wrap)
    hooks.replace(compat.PythonOps, "__call__", wrap_all)
    hooks.replace(compat.script_ops, "py_func_common", wrap_numpy)


def keep(known: dict[str, list[Any]], token: Any, given: Any) -> None:
    """What such a function gave in the step that runs: a replay must not run it again."""
    results, name = given if isinstance(given, (list, tuple)) else [given], compat.text_of(token)
    size = sum(math.prod(each.shape) for each in results if each is not None)
    if size <= _LARGEST_KEPT and (name in known or len(known) < _MOST_KEPT):
        before = known.setdefault(name, [])
        if len(before) < _MOST_KEPT:  # a replay that asks for more than these gives up
            before.append([each.copy() if isinstance(each, np.ndarray) else each for each in results])


def note_departure(recorder: Recorder, function: str, how: str, frame: Any) -> None:
    """A value left inside such a body."""
    where = span(recorder.place_at(frame))
    if where is not None:
        left = Departure(how=how, where=where, function=function)
        if left not in recorder.events[-64:]:
            recorder.events.append(left)
