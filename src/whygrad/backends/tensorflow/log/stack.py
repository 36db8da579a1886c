"""What the Python stack around an op tells: who asked for it, in whose method, with which variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.variables import handle_id
from whygrad.source.position import CodeOwner, Position, file_owner, position_in, user_frames_around


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


def callers_of(
    frame: FrameType | None, position: Callable[[FrameType], Position] = position_in
) -> tuple[Position, ...]:
    """Where the user's frames around a frame are."""
    return tuple([position(each) for each in user_frames_around(frame)])


def variables_read(frame: FrameType, inputs: Any, known: Mapping[int, Any]) -> dict[int, Any]:
    """The handles of the variables whose values an op was given, by the ids of the values.

    `x * v` reads `v` in C++ and no read op shows; the calling wrapper still holds `v` in its arguments, which are in
    the order of the inputs. Numbers and arrays among them are inputs too; tensors are inputs themselves.
    """
    caller = frame.f_back if compat.tells_listeners(frame.f_code) else frame
    if caller is None or compat.executes_op(caller.f_code):
        return {}
    given = [item for value in caller.f_locals.values() for item in _each(value)]
    if not any(_is_variable(item) for item in given):
        return {}
    passed = {id(item) for item in given}
    unseen = [item for item in inputs if compat.tensor_id(item) not in known and id(item) not in passed]
    found = dict[int, Any]()
    for item in given:
        if unseen and _fits(item, unseen[0]):
            tensor = unseen.pop(0)
            if _is_variable(item):
                found[compat.tensor_id(tensor)] = item.handle
    return found


def _each(value: Any) -> Any:
    """Tensors and variables in a list are inputs each for itself; numbers in a list are one."""
    packed = isinstance(value, (list, tuple)) and any(compat.id_of(i) is not None or _is_variable(i) for i in value)
    return value if packed else (value,)


def _is_variable(value: Any) -> bool:
    return hasattr(value, "assign") and handle_id(value) is not None


def _fits(given: Any, tensor: Any) -> bool:
    """Whether a tensor may hold the value of what was given: a variable's, or numbers."""
    if _is_variable(given):
        return given.dtype == tensor.dtype and tuple(given.shape) == tuple(tensor.shape)
    if isinstance(given, bool) or not isinstance(given, (int, float, complex, list, tuple, np.ndarray, np.generic)):
        return False
    try:
        return np.shape(given) == tuple(tensor.shape)
    except ValueError:  # a list of lists of different lengths
        return False
