"""What the Python stack around an op tells: who asked for it, in whose method, with which variable."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.variables import handle_id
from whygrad.source.position import CodeOwner, Position, file_owner, position_in, user_frame


def is_users_own(frame: FrameType | None) -> bool:
    """Whether a write was asked for by user code itself, not by a layer, a metric or an initializer on its way."""
    while frame is not None:
        file = frame.f_code.co_filename
        owner = file_owner(file)
        if owner is not CodeOwner.MACHINERY:
            return frame.f_code.co_name != "build"
        if any(part in file for part in compat.DEPUTIES):
            return False
        frame = frame.f_back
    return False


def callers_of(frame: FrameType | None) -> tuple[Position, ...]:
    """The user's frames around a frame; a module's own code has none worth keeping."""
    if frame is None or frame.f_code.co_name == "<module>":
        return ()
    found: list[Position] = []
    while len(found) < 8:
        frame = user_frame(frame.f_back)
        if frame is None:
            break
        found.append(position_in(frame))
        if frame.f_code.co_name == "<module>":
            break
    return tuple(found)


def variable_in_caller(frame: FrameType, tensor: Any, inputs: Any, known: Mapping[int, Any]) -> Any:
    """`x * v` reads `v` in C++ and no read op shows; the calling wrapper still holds `v` in its locals."""
    caller = frame.f_back if compat.tells_listeners(frame.f_code) else frame
    if caller is None or compat.executes_op(caller.f_code):
        return None
    held = [value for value in caller.f_locals.values() if handle_id(value) is not None and hasattr(value, "assign")]
    if not held:
        flat = [item for value in caller.f_locals.values() if isinstance(value, (list, tuple)) for item in value]
        held = [value for value in flat if handle_id(value) is not None and hasattr(value, "assign")]
    unknown = [item for item in inputs if compat.tensor_id(item) not in known or item is tensor]
    fitting = [v for v in held if v.dtype == tensor.dtype and tuple(v.shape) == tuple(tensor.shape)]
    if not fitting:
        return None
    order = [item for item in unknown if item.dtype == tensor.dtype]
    index = next((i for i, item in enumerate(order) if item is tensor), 0)
    return fitting[min(index, len(fitting) - 1)].handle
