"""What a function returns, read from its source."""

from __future__ import annotations

import ast

from whygrad.source.module import Module, module_of
from whygrad.source.text import SourceSpan


def return_of_none(file: str, first_line: int) -> SourceSpan | None:
    """The `return` of a function that has a None in it, else its last one; None where the source does not tell."""
    module = module_of(file)
    function = None if module is None else _function_at(module, first_line)
    if module is None or function is None:
        return None
    if isinstance(function, ast.Lambda):
        return module.span(function.body)
    own = [node for node in ast.walk(function) if isinstance(node, ast.Return) and module.scope(node) is function]
    with_none = [node for node in own if node.value is not None and any(map(_is_none, ast.walk(node.value)))]
    found = (with_none or own)[-1:]
    return module.span(found[0]) if found else None


def _function_at(module: Module, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    """The innermost function that begins there, with or without decorators."""
    found = None
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if line in (first, node.lineno):
                return node
        elif isinstance(node, ast.Lambda) and node.lineno == line:
            found = node
    return found


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
