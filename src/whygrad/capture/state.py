"""Which names a function changes and lets its branches depend on, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

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


def changed_outside(span: SourceSpan, name: str) -> Mutation | None:
    """Where a name that the function around a span uses is changed by a loop, or a function, outside of it."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if module is None or node is None:
        return None
    function = module.scope(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in _own_names(function):
        return None
    read = next(_loads(module, function, name), None)
    if read is None:
        return None
    inside = set(ast.walk(function))
    for statement in ast.walk(module.tree):
        if statement not in inside and _changes(statement, name) and _happens_again(module, statement, function, name):
            place = statement.target if isinstance(statement, ast.For) else statement
            return Mutation(name, _span(module, place), _span(module, read))
    return None


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {argument.arg for argument in given} | stored


def _loads(module: Module, function: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        loaded = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        if loaded and isinstance(node, ast.Name) and not _is_printed(module, node):
            yield node


def _changes(statement: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AugAssign | ast.For]:
    if isinstance(statement, ast.Assign):
        return any(isinstance(n, ast.Name) and n.id == name for target in statement.targets for n in ast.walk(target))
    if isinstance(statement, (ast.AugAssign, ast.For)):
        return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(statement.target))
    return False


def _happens_again(module: Module, statement: ast.stmt, function: ast.AST, name: str) -> bool:
    """In a loop, in the scope that the function sees the name in; or in a function that declares it its own."""
    around = module.scope(statement)
    if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and name in _shared_names(around):
        return True
    if function not in set(ast.walk(around)):
        return False
    node: ast.AST = statement
    while node is not around:
        if isinstance(node, (ast.For, ast.While)):
            return function not in set(ast.walk(node))  # a function made in the loop is traced anew each time
        node = module.parents[node]
    return False


def attribute_reads(span: SourceSpan, attribute: str) -> SourceSpan | None:
    """Where the function around a span uses `self.attribute`."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    if module is None or node is None:
        return None
    for each in ast.walk(module.scope(node)):
        if (
            isinstance(each, ast.Attribute)
            and isinstance(each.ctx, ast.Load)
            and ast.unparse(each) == f"self.{attribute}"
        ):
            return _span(module, each)
    return None


def _span(module: Module, node: ast.stmt | ast.expr) -> SourceSpan:
    return SourceSpan(module.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def random_calls(span: SourceSpan, is_source: Callable[[str], bool]) -> Iterator[SourceSpan]:
    """Calls of the function around a span that draw at random; `is_source` knows `np.random` by its name."""
    module = module_of(span.file)
    node = None if module is None else module.at(span)
    function = None if module is None or node is None else module.scope(node)
    if module is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if function.name in ("build", "__init__"):  # first values are drawn once on purpose
        return
    for each in ast.walk(function):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute) or each.func.attr == "seed":
            continue
        if is_source(ast.unparse(each.func.value)):
            yield _span(module, each)
