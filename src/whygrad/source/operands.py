"""What the expression that raised was given: the values of its names, read from the frames that it stood in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import FrameType

from whygrad.source.module import located
from whygrad.source.text import SourceSpan

_MISSING = object()
_READ = (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)


def operands(span: SourceSpan, frames: Sequence[FrameType]) -> Iterator[tuple[str, object]]:
    """The names, attributes, elements and lists in an expression, with their values; nothing is called for it.

    `frames` are those in which the names may be found, the innermost first.
    """
    found = located(span)
    seen: set[str] = set()
    nodes = [] if found is None else [node for node in ast.walk(found[1]) if isinstance(node, _READ)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.ctx, ast.Load) and (text := ast.unparse(node)) not in seen:
            seen.add(text)
            for frame in frames:
                if (value := _value(node, frame)) is not _MISSING:
                    yield text, value
                    break


def without_body(span: SourceSpan) -> SourceSpan:
    """Of a loop, what it goes through; any other stretch of code as it is."""
    match located(span):
        case (module, ast.For(iter=iterated)):
            return module.span(iterated)
    return span


def _value(node: ast.AST, frame: FrameType) -> object:
    match node:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name, _MISSING))
        case ast.Attribute(value=owner, attr=name):
            return getattr(_value(owner, frame), "__dict__", {}).get(name, _MISSING)
        case ast.Subscript(value=container, slice=index):
            return _element(_value(container, frame), _value(index, frame))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, frame) for part in parts]
        case ast.Constant(value=value):
            return value
    return _MISSING


def _element(container: object, index: object) -> object:
    """Of a plain container only: any other would run code of its own."""
    if type(container) not in (list, tuple, dict) or type(index) not in (int, str):
        return _MISSING
    try:
        return container[index]  # type: ignore[index]
    except (LookupError, TypeError):
        return _MISSING
