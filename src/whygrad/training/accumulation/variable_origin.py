"""Where a variable was created, found through who holds it, without having watched its creation."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import os
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.autograph import is_generated_file
from whygrad.source.position import CodeOwner, file_owner

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
        for name, value in frame.f_locals.items():
            if value is not item or name == "self":
                continue
            try:
                lines, start = inspect.getsourcelines(frame.f_code)
            except (OSError, TypeError):
                continue
            source = inspect.cleandoc("\n" + "".join(lines))
            place = _assignment(frame.f_code.co_filename, source, name, None, max(start, 1))
            if place is not None:
                return place
    return None


def _in_module(namespace: dict[str, Any], level: dict[int, tuple[Any, str | None]]) -> str | None:
    path = namespace["__file__"]
    if not path or _is_library(path):
        return None
    name = _name_in(namespace, level)
    return None if name is None else _assignment(path, "".join(linecache.getlines(path)), name, None, 1)


def _in_class(owner: type, attribute: str | None) -> str | None:
    if attribute is None:
        return None
    for cls in owner.__mro__:
        try:
            path = inspect.getsourcefile(cls)
            if path is None or _is_library(path):
                continue
            lines, start = inspect.getsourcelines(cls)
        except (OSError, TypeError):
            continue
        place = _assignment(path, inspect.cleandoc("\n" + "".join(lines)), attribute, "self", start)
        if place is not None:
            return place
    return None


def _assignment(path: str, source: str, name: str, owner: str | None, start: int) -> str | None:
    """The last line of `source` that assigns `name`, or `owner.name`."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    found = None
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        spread = [part for target in targets for part in getattr(target, "elts", [target])]  # a, b = ...
        if any(_is_target(target, name, owner) for target in spread) and _creates(node):
            found = start + node.lineno - 1  # type: ignore[attr-defined]
    shown = name if owner is None else f"{owner}.{name}"
    return None if found is None else f"`{shown}` in {os.path.basename(path)}:{found}"


def _creates(assignment: ast.AST) -> bool:
    """Whether its right side calls or lists something, rather than naming what is there already."""
    value = getattr(assignment, "value", None)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "tuple"):
        return False
    return isinstance(value, (ast.Call, ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp))


def _is_target(target: ast.expr | None, name: str, owner: str | None) -> bool:
    if owner is None:
        return isinstance(target, ast.Name) and target.id == name
    return (
        isinstance(target, ast.Attribute)
        and target.attr == name
        and isinstance(target.value, ast.Name)
        and target.value.id == owner
    )


def _is_ours(holder: Any) -> bool:
    """What holds a variable only because it runs, or because whygrad works with it."""
    return isinstance(holder, FrameType) or type(holder).__module__.split(".")[0] == "whygrad"


def _is_library(path: str) -> bool:
    return is_generated_file(path) or file_owner(path) is not CodeOwner.USER
