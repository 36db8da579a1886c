"""The Python name that holds what an expression makes: `w` for `w = make()`, `self.w`, `rates["w"]`, `layers[0]`."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Sequence
from types import FrameType

from whygrad.source.module import FUNCTIONS, LOOPS, Module, located
from whygrad.source.position import user_frame
from whygrad.source.text import SourceSpan


def holder(spans: Sequence[SourceSpan], number: int = 0) -> str | None:
    """The name for what was made at the first span; the other spans are those of the callers, innermost first.

    `number` counts what the same expression made before: it is the index in a comprehension that runs once.
    """
    path = ""
    for span in spans:
        found = located(span)
        target, path = (None, path) if found is None else _held(*found, path, number)
        if not isinstance(target, ast.Return):
            return None if target is None else _named(target, path)
    return None


def _held(module: Module, node: ast.AST, path: str, number: int) -> tuple[ast.expr | ast.Return | None, str]:
    """Follow a value outwards to the target it is assigned to, or until it is returned; and its place in there."""
    inner = node
    while (outer := module.parents.get(inner)) is not None:
        match outer:
            case ast.Return() | ast.Lambda():
                return ast.Return(), path
            case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
                return target, path
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if inner in parts:
                path = f"[{parts.index(inner)}]{path}"
            case ast.Dict(keys=keys, values=values) if inner in values:
                key = keys[values.index(inner)]
                path = f"[{ast.unparse(key) if key is not None else '...'}]{path}"
            case ast.ListComp(elt=element, generators=loops) if element is inner:
                path = f"[{number if len(loops) == 1 and _runs_once(module, outer) else '...'}]{path}"
            case ast.DictComp(value=element) if element is inner:
                path = f"[...]{path}"
            case ast.IfExp():
                pass
            case _:
                return None, path
        inner = outer
    return None, path


def _named(target: ast.expr, path: str) -> str | None:
    """`b` for the second of `a, b = make(), make()`."""
    place, closed, rest = path.partition("]")
    if isinstance(target, (ast.Tuple, ast.List)):
        index = place.removeprefix("[")
        inside = target.elts[int(index)] if closed and index.isdigit() and int(index) < len(target.elts) else None
        return None if inside is None or isinstance(inside, ast.Starred) else _named(inside, rest)
    return f"{ast.unparse(target)}{path}" if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) else None


def _runs_once(module: Module, comprehension: ast.AST) -> bool:
    around = (*LOOPS, *FUNCTIONS, ast.ListComp, ast.DictComp)
    return not any(isinstance(each, around) for each in module.ancestors(comprehension))


def name_on_stack(value: object) -> str | None:
    """The name by which the running code of the user's holds a value, itself or in a list; the outermost counts."""
    frames, frame = list[FrameType](), user_frame(sys._getframe(1))
    while frame is not None:
        frames.append(frame)
        frame = user_frame(frame.f_back)
    spaces = [space for each in reversed(frames) for space in (dict(each.f_locals), dict(each.f_globals))]
    items = [(name, held) for space in spaces for name, held in space.items() if not name.startswith("_")]
    lists = ((name, held) for name, held in items if isinstance(held, (list, tuple)))
    inside = ((f"{name}[{i}]", item) for name, held in lists for i, item in enumerate(held))
    return next((name for name, held in itertools.chain(items, inside) if held is value), None)
