"""Which names a function changes and lets its branches depend on, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
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
    for statement in ast.walk(function):
        if not isinstance(statement, ast.AugAssign):
            continue
        name = ast.unparse(statement.target)
        if not (isinstance(statement.target, ast.Attribute) or name in shared):
            continue
        read = next(_other_reads(module, function, name, statement), None)
        if read is not None:
            yield Mutation(name, _span(module, statement), _span(module, read))


def _shared_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names declared `global` or `nonlocal`."""
    return {name for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}


def _other_reads(module: Module, function: ast.AST, name: str, change: ast.AugAssign) -> Iterator[ast.expr]:
    """Where the function uses the name; the change itself and printing do not count."""
    for node in ast.walk(function):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        if ast.unparse(node) == name and not _is_printed(module, node) and module.statement(node) is not change:
            yield node


_PRINTING = ("print", "info", "debug", "warning")


def _is_printed(module: Module, node: ast.AST) -> bool:
    while not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in _PRINTING:
            return True
        node = module.parents[node]
    return False


def attribute_reads(span: SourceSpan, attribute: str) -> SourceSpan | None:
    """Where the function around a span first uses `self.attribute`."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if module is None or node is None:
        return None
    named = (
        each for each in ast.walk(module.scope(node)) if isinstance(each, ast.Attribute) and each.attr == attribute
    )
    reads = [each for each in named if isinstance(each.ctx, ast.Load) and ast.unparse(each) == f"self.{attribute}"]
    return _first(module, reads)


def global_reads(span: SourceSpan, name: str) -> SourceSpan | None:
    """Where the function around a span first uses a global name, other than to print it or to count it up."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    function = None if module is None or node is None else module.scope(node)
    if module is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return None
    named = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == name]
    reads = [each for each in named if isinstance(each.ctx, ast.Load) and not _is_printed(module, each)]
    return _first(module, [each for each in reads if not _counts_itself(module, each)])


def _first(module: Module, nodes: Sequence[ast.expr]) -> SourceSpan | None:
    return min((_span(module, node) for node in nodes), default=None)


def _counts_itself(module: Module, node: ast.Name) -> bool:
    """`n = n + 1`"""
    statement = module.statement(node)
    return isinstance(statement, ast.Assign) and any(ast.unparse(target) == node.id for target in statement.targets)


def _span(module: Module, node: ast.stmt | ast.expr) -> SourceSpan:
    return SourceSpan(module.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
