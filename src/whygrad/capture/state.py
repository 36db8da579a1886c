"""Which names a function changes and lets its branches depend on, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.capture.slicing import Module, module_of
from whygrad.source import SourceSpan


@dataclass(frozen=True, slots=True)
class Mutation:
    name: str  # `self.count`, or a global name
    where: SourceSpan
    read: SourceSpan


def mutations(span: SourceSpan) -> Iterator[Mutation]:
    """Names of the function around a span that it both changes and tests."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if module is None or node is None:
        return
    function = module.scope(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    shared = _shared_names(function)
    tests = [each.test for each in ast.walk(function) if isinstance(each, (ast.If, ast.While, ast.IfExp))]
    for statement in ast.walk(function):
        if not isinstance(statement, ast.AugAssign):
            continue
        name = ast.unparse(statement.target)
        if not (isinstance(statement.target, ast.Attribute) or name in shared):
            continue
        read = next((test for test in tests if _reads(test, name)), None)
        if read is not None:
            yield Mutation(name, _span(module, statement), _span(module, read))


def _shared_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names declared `global` or `nonlocal`."""
    return {name for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}


def _reads(test: ast.expr, name: str) -> bool:
    return any(isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) == name for node in ast.walk(test))


def _span(module: Module, node: ast.stmt | ast.expr) -> SourceSpan:
    return SourceSpan(module.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
