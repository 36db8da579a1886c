"""Python functions that run as ops: what leaves TensorFlow inside their bodies."""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.python_bodies import PythonBodies
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.graph import Departure
from whygrad.observe.place import span

_MOST_KEPT = 16  # functions, and calls of one of them in a step
_LARGEST_KEPT = 20_000  # elements of the results of one call


class Bodies(threading.local):
    """The Python functions that are running as ops in this thread; they may run in TensorFlow's own threads."""

    def __init__(self) -> None:
        self.running: list[str] = []  # names; empty: TensorFlow's own, which differentiates one of the user's


def install(hooks: Hooks, recorder: Recorder, bodies: Bodies) -> None:
    def wrap(original: Any) -> Any:
        def __call__(self: Any, device: Any, token: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            of = hooks.safely(compat.differentiated_by, self)
            bodies.running.append("" if of is not None else getattr(compat.body_of(self), "__name__", "py_function"))
            listener = hooks.safely(_listener, hooks, recorder, self, token, of)
            try:
                given = original(self, device, token, *args, **kwargs)
                if of is not None and recorder.python_bodies is not None:
                    hooks.safely(recorder.python_bodies.end_gradient, of, given)
                return given
            finally:
                if listener is not None:
                    compat.stop_listening(listener)
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


def _listener(hooks: Hooks, recorder: Recorder, body: Any, token: Any, of: str | None) -> Any:
    """Listens to the ops of a function that a gradient may be wanted of, in the thread that runs it."""
    if of is None and not compat.may_be_differentiated(body):
        return None
    if recorder.python_bodies is None:
        recorder.python_bodies = PythonBodies()
    bodies, name = recorder.python_bodies, compat.text_of(token)
    note = bodies.begin(name, recorder.places.at) if of is None else bodies.begin_gradient(name, of)

    def on_op(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
        if graph is None and outputs is not None:
            hooks.safely(note, op_type, inputs, outputs, sys._getframe(1))
        return outputs if graph is not None and compat.others_listen() else None

    compat.add_op_callback(on_op)
    return on_op


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
    if not function:
        return
    where = span(recorder.places.at(frame))
    if where is not None:
        left = Departure(how=how, where=where, function=function)
        if left not in recorder.events[-64:]:
            recorder.events.append(left)
