"""Where variables are made."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.op_table import DEFAULT_NAMES
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import Requests
from whygrad.backends.tensorflow.log.stack import callers_of
from whygrad.source.position import user_frame


def _is_constructor(frame: FrameType | None) -> bool:
    """Of what has variables, or of another object of Keras, such as a loss."""
    if frame is None or frame.f_code.co_name not in ("__init__", "build"):
        return False
    kind = type(frame.f_locals.get("self"))
    of_keras = any(each.__module__.split(".")[0] in ("keras", "tf_keras") for each in kind.__mro__)
    return of_keras or hasattr(kind, "trainable_variables")


def install(hooks: Hooks, recorder: Recorder, requests: Requests) -> None:
    def note(variable: Any, frame: Any) -> None:
        entry = recorder.variables.add(variable, None, recorder.now)
        if entry is not None and not entry.noted:
            entry.noted = True
            entry.created = entry.born = recorder.places.at(frame)
            entry.made_in_step = requests.total
            found = user_frame(frame)
            entry.in_constructor = _is_constructor(found)
            entry.callers = callers_of(found) if entry.name in DEFAULT_NAMES else ()
            entry.made_in_trace = compat.current_graph() is not None
            entry.from_data = not entry.made_in_trace and recorder.is_data(compat.initial_value(frame))

    def wrap(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            if not compat.stands_for_written(self):
                hooks.safely(note, self, sys._getframe(1))

        return __init__

    hooks.replace(compat.BaseResourceVariable, "__init__", wrap)
