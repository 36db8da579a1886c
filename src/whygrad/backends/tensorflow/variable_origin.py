"""Where a variable was created, found through who holds it, without having watched its creation."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import os
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends.tensorflow import compat

_DEPTH = 5  # variable <- layer <- list of layers <- model <- user's attribute
_BREADTH = 200


def origin(variable: Any) -> str | None:
    """`self.scale in model.py:14`: the line that assigns it, or that makes the layer it belongs to; None if unknown."""
    level: list[Any] = [variable]
    native = compat.native(variable)
    if native is not variable:
        level.append(native)
    frames = [frame for frame in compat.frames_above() if not _is_library(frame.f_code.co_filename)]
    seen = {id(item) for item in level} | {id(level)}
    for _ in range(_DEPTH):
        holders: list[Any] = []
        for item in level:
            local = _in_frames(frames, item)
            if local is not None:
                return local
            for holder in _holders(item, seen):
                place = _place(holder, item)
                if place is not None:
                    return place
                holders.append(holder)
        level = holders[:_BREADTH]
        seen |= {id(level), id(holders)}
    return None


def _holders(item: Any, seen: set[int]) -> Iterator[Any]:
    for holder in gc.get_referrers(item):
        if id(holder) in seen or isinstance(holder, FrameType) or inspect.isgenerator(holder):
            continue
        seen.add(id(holder))
        yield holder


def _place(holder: Any, item: Any) -> str | None:
    """The line in the user's code where `holder` got `item`, if the holder is the user's."""
    if isinstance(holder, dict) and holder.get("__name__") and "__file__" in holder:
        return _in_module(holder, item)
    if isinstance(holder, (dict, list, tuple, set, ModuleType)) or not hasattr(holder, "__dict__"):
        return None
    for name, value in list(vars(holder).items()):
        if value is item:
            return _in_class(type(holder), name)
    return None


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


def _in_module(namespace: dict[str, Any], item: Any) -> str | None:
    path = namespace["__file__"]
    if not path or _is_library(path):
        return None
    for name, value in list(namespace.items()):
        if value is item and isinstance(name, str):
            return _assignment(path, "".join(linecache.getlines(path)), name, None, 1)
    return None


def _in_class(owner: type, attribute: str) -> str | None:
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
        if any(_is_target(target, name, owner) for target in targets):
            found = start + node.lineno - 1  # type: ignore[attr-defined]
    shown = name if owner is None else f"{owner}.{name}"
    return None if found is None else f"`{shown}` in {os.path.basename(path)}:{found}"


def _is_target(target: ast.expr | None, name: str, owner: str | None) -> bool:
    if owner is None:
        return isinstance(target, ast.Name) and target.id == name
    return (
        isinstance(target, ast.Attribute)
        and target.attr == name
        and isinstance(target.value, ast.Name)
        and target.value.id == owner
    )


def _is_library(path: str) -> bool:
    parts = os.path.abspath(path).split(os.sep)
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return (
        "site-packages" in parts
        or "dist-packages" in parts
        or parts[-1].startswith("__autograph_generated_file")
        or path.startswith((os.path.dirname(os.__file__), ours))
    )
