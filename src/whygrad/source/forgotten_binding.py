"""Statements that bind a loop's name, or a parameter, to a new value that nobody reads: `for v in vs: v = v * 2`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from whygrad.source.module import FUNCTIONS, LOOPS, Module, loads, module_of, parameters, plain_names
from whygrad.source.text import SourceSpan

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def forgotten_bindings(file: str) -> Mapping[tuple[str, int], tuple[SourceSpan, str]]:
    """The value of each such statement of a file, by its first line, and the name it is bound to."""
    module = module_of(file)
    return {} if module is None else forgotten_in(module)


@lru_cache(maxsize=64)
def forgotten_in(module: Module) -> Mapping[tuple[str, int], tuple[SourceSpan, str]]:
    """The same of a parsed file."""
    found: dict[tuple[str, int], tuple[SourceSpan, str]] = {}
    for node in ast.walk(module.tree):
        name = _single_name(node)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and name is not None and _is_forgotten(module, node, name):
            value = node.value if isinstance(node, ast.Assign) else node
            where = module.span(value)
            found[where.file, where.line] = where, name
    return found


def forgotten_name(where: SourceSpan | None) -> str | None:
    """The name that takes the whole value at a span, where nothing reads it."""
    if where is None:
        return None
    value, name = forgotten_bindings(where.file).get((where.file, where.line), (None, None))
    if value is None:
        return None
    spans = (value.column, value.end_column, value.last_line), (None, None, value.line)  # columns may be unknown
    return name if (where.column, where.end_column, where.last_line) in spans else None


def _single_name(node: ast.AST) -> str | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Call()):
            return None if name.startswith("_") else name
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
    return None


def _is_forgotten(module: Module, statement: ast.stmt, name: str) -> bool:
    scope = module.scope(statement)
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in ast.walk(scope)):
        return False
    around = _home(module, statement, scope, name)
    if around is None:
        return False
    return all(_is_of_another(module, load, name, statement, around) for load in loads(scope, name))


def _home(module: Module, statement: ast.stmt, scope: ast.AST, name: str) -> ast.AST | None:
    """The loop that binds the name anew in each turn, or the function that is given it."""
    node: ast.AST = statement
    while node is not scope:
        node = module.parents[node]
        if isinstance(node, LOOPS):
            return node if isinstance(node, ast.For) and name in plain_names(node.target) else None
    return scope if isinstance(scope, FUNCTIONS) and name in parameters(scope) else None


def _is_of_another(module: Module, load: ast.Name, name: str, statement: ast.stmt, around: ast.AST) -> bool:
    """Whether what is read cannot be the value that the statement binds."""
    above = set(module.ancestors(statement))
    node: ast.AST = load
    later = False  # read by a function, which may be called later
    for parent in module.ancestors(load):
        if parent is statement or (parent not in above and _binds_by_itself(parent, node, name)):
            return True
        if parent is around:
            return not later and _position(load) < _position(statement)
        later = later or (isinstance(parent, FUNCTIONS) and parent not in above)
        node = parent
    return not later and _position(load) < _position(around) and not module.loops_around(around)


def _binds_by_itself(node: ast.AST, child: ast.AST, name: str) -> bool:
    """A loop, comprehension or function further in or elsewhere that has the name for itself."""
    if isinstance(node, ast.For):
        is_bound = any(name in plain_names(each, ast.Store) for each in node.body)
        return name in plain_names(node.target) and child in node.body and not is_bound
    if isinstance(node, _COMPREHENSIONS):
        return any(name in plain_names(each.target) for each in node.generators)
    if isinstance(node, FUNCTIONS):
        return name in parameters(node) | plain_names(node, ast.Store)
    return False


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
