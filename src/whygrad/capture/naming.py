"""The user's own names for things, read from the source."""

from __future__ import annotations

import ast

from whygrad.capture.slicing import module_of
from whygrad.source import SourceSpan


def callee(span: SourceSpan) -> str | None:
    """`network` for the call `network(x)` at a span; dotted names too."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    return ast.unparse(node.func)


def alias_assignment(file: str, first: str, second: str) -> SourceSpan | None:
    """Where `first = second` stands in a file."""
    module = module_of(file)
    for node in ast.walk(module.tree) if module is not None else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == second:
            if any(ast.unparse(target) == first for target in node.targets):
                return SourceSpan(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return None
