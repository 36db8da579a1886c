"""Where a variable was created, found through who holds it, without having watched its creation."""

from __future__ import annotations

import gc
import inspect
import os
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.autograph import is_generated_file
from whygrad.source.naming import statement_that_makes
from whygrad.source.position import CodeOwner, file_owner, is_module
from whygrad.source.text import shown_file

_DEPTH = 9  # variable, layer, its namespace, list of layers, model, its namespace, ...: each is one step
_BREADTH = 200


def origin(variable: Any) -> str | None:
    """`self.scale` in model.py:14: the line that assigns it, or that makes what holds it; None if not found.

    Slow, for error messages: each step outwards is a scan of all objects.
    """
    frames = [frame for frame in compat.frames_above() if not _is_library(frame.f_code.co_filename)]
    level: dict[int, tuple[Any, str | None]] = {id(v): (v, None) for v in (variable, compat.native(variable))}
    seen: set[int] = set(level)
    for _ in range(_DEPTH):
        place = next((p for p in (_in_frames(frames, item) for item, _ in level.values()) if p is not None), None)
        if place is not None:
            return place
        outer: dict[int, tuple[Any, str | None]] = {}
        for holder in gc.get_referrers(*(item for item, _ in level.values())):
            if id(holder) in seen or holder is level or _is_ours(holder) or len(outer) >= _BREADTH:
                continue
            place = _place(holder, level)
            if place is not None:
                return place
            outer[id(holder)] = (holder, _name_in(holder, level) if isinstance(holder, dict) else None)
        level = outer
        seen |= set(level)
    return None


def _place(holder: Any, level: dict[int, tuple[Any, str | None]]) -> str | None:
    """The line in the user's code where `holder` got something of `level`, if the holder is the user's."""
    if isinstance(holder, dict):
        return _in_module(holder, level) if holder.get("__name__") and "__file__" in holder else None
    if isinstance(holder, (list, tuple, set, ModuleType)) or not hasattr(holder, "__dict__"):
        return None
    namespace = vars(holder)
    through = level.get(id(namespace), (None, None))[1]  # the holder's own namespace was the step before
    return _in_class(type(holder), through or _name_in(namespace, level))


def _name_in(namespace: Any, level: dict[int, tuple[Any, str | None]]) -> str | None:
    names = (name for name, value in list(namespace.items()) if id(value) in level and isinstance(name, str))
    return next(names, None)


def _in_frames(frames: list[FrameType], item: Any) -> str | None:
    for frame in frames:
        code = frame.f_code
        for name, value in frame.f_locals.items():
            if value is item and name != "self":
                function = None if is_module(code) else code.co_firstlineno
                place = _made(code.co_filename, name, function=function)
                if place is not None:
                    return place
    return None


def _in_module(namespace: dict[str, Any], level: dict[int, tuple[Any, str | None]]) -> str | None:
    path, name = namespace["__file__"], _name_in(namespace, level)
    return None if not path or name is None or _is_library(path) else _made(path, name)


def _in_class(owner: type, attribute: str | None) -> str | None:
    for cls in owner.__mro__ if attribute is not None else ():
        try:
            path = inspect.getsourcefile(cls)
        except (OSError, TypeError):
            continue
        place = None if path is None or _is_library(path) else _made(path, f"self.{attribute}", owner=cls.__name__)
        if place is not None:
            return place
    return None


def _made(file: str, name: str, **where: Any) -> str | None:
    made = statement_that_makes(file, name, **where)
    return None if made is None else f"`{name}` in {os.path.basename(shown_file(made.file))}:{made.line}"


def _is_ours(holder: Any) -> bool:
    """What holds a variable only because it runs, or because whygrad works with it."""
    return isinstance(holder, FrameType) or type(holder).__module__.split(".")[0] == "whygrad"


def _is_library(path: str) -> bool:
    return is_generated_file(path) or file_owner(path) is not CodeOwner.USER
