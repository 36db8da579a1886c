"""Values that leave TensorFlow: `.numpy()`, `float()`, `int()`, arrays made of tensors, Python functions."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen import foreign_body as foreign
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.recorder import Recorder

_WAYS = {
    "numpy": ".numpy()",
    "__array__": "an array",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "__complex__": "complex()",
}


def install(hooks: Hooks, recorder: Recorder, bodies: foreign.Bodies) -> None:
    """NumPy may also read a tensor's memory without asking; what came back then tells (see `graph/escape`)."""

    def note(number: int, how: str, value: Any, frame: FrameType) -> None:
        place = recorder.places.at(frame)
        if hooks.late:
            hooks.later(recorder.on_departure, number, how, value, place)
        else:
            recorder.on_departure(number, how, value, place)

    def leaving(how: str) -> Any:
        def wrap(original: Any) -> Any:
            def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
                value = original(self, *args, **kwargs)
                if bodies.running:
                    hooks.safely(foreign.note_departure, recorder, bodies.running[-1], how, sys._getframe(1))
                elif not recorder.paused and (number := compat.id_of(self)) is not None:
                    # a single number may wait with what it came of; an array is not kept for that
                    hooks.safely(note, number, how, value, sys._getframe(1), is_first=not getattr(value, "ndim", 0))
                return value

            return leave

        return wrap

    for name, how in _WAYS.items():
        hooks.replace(compat.EagerTensorBase, name, leaving(how))
