"""Calls in the function around a span whose value matters there: it decides a branch or enters a computation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.source.module import FUNCTIONS, Module, last_name, loads, located, module_of
from whygrad.source.origin import function_of
from whygrad.source.text import SourceSpan, notebook_of

_COLLECTING = ("append", "write", "scalar", "format")
_CONVERTING = ("astype", "float", "int", "bool", "float32", "round", "abs")
_MAX_NAMES = 16


@dataclass(frozen=True, slots=True)
class UsedCall:
    name: str  # `np.random.normal`
    where: SourceSpan
    decides: SourceSpan | None  # a test that hangs on it


def used_calls(span: SourceSpan) -> Iterator[UsedCall]:
    """The calls of dotted names in the function around a span, its inner functions left out."""
    found = located(span)
    if found is None:
        return
    module, node = found
    scope = module.scope(node)
    if not isinstance(scope, FUNCTIONS) or getattr(scope, "name", "") in ("__init__", "build"):
        return
    for name, call in _calls(scope):
        uses = list(_uses(module, scope, call))
        if uses or name.endswith(".shuffle"):  # which changes its argument
            decides = next((module.span(use) for use in uses if _is_tested(module, use)), None)
            yield UsedCall(name, module.span(call), decides)


@dataclass(frozen=True, slots=True)
class UnreadCall:
    """A call under a tape of which a result has a name that nothing reads."""

    name: str
    where: SourceSpan
    body: SourceSpan | None  # of the function that it runs, where that is in the same file
    alone: bool  # whether it is all that the call gives


def unread_calls(entered: SourceSpan | None) -> Iterator[UnreadCall]:
    """In the block of the tape that is made here: names that are given the result of a call for nothing."""
    found = located(entered)
    if found is None:
        return
    module, node = found
    block = node if isinstance(node, ast.With) else module.around(node, ast.With)
    scope = module.scope(node)
    if block is None:
        return
    for made in (each for statement in block.body for each in ast.walk(statement)):
        if isinstance(made, ast.Assign) and isinstance(made.value, ast.Call) and module.scope(made) is scope:
            names, unread = _unread_names(module, made)
            if unread:
                function = function_of(module, made.value)
                body = None if function is None else module.span(function)
                yield UnreadCall(unread[0], module.span(made), body, alone=len(names) == 1)


def is_unread(span: SourceSpan) -> bool:
    """Whether a span is a whole call whose result nothing takes, or has names only that nothing reads."""
    found = located(span)
    if found is None or not isinstance(found[1], ast.Call):
        return False
    module, call = found
    match module.parents.get(call):
        case ast.Expr():
            return True
        case ast.Assign() as made:
            names, unread = _unread_names(module, made)
            return bool(names) and names == unread
    return False


def _unread_names(module: Module, made: ast.Assign) -> tuple[list[str], list[str]]:
    """The names that an assignment binds, and those of them that are not read in its function."""
    scope = module.scope(made)
    names = [each.id for target in made.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    if scope is module.tree and notebook_of(module.file) is not None:  # other cells may read them
        return names, []
    shared = {name for each in ast.walk(scope) if isinstance(each, (ast.Global, ast.Nonlocal)) for name in each.names}
    unread = [name for name in names if name[0] != "_" and next(loads(scope, name), None) is None]
    return names, unread if shared.isdisjoint(unread) else []


def called_inside(file: str, function: str) -> Iterator[str]:
    """The dotted names that a function of a file calls."""
    module = module_of(file)
    for scope in module.functions.get(function, ()) if module is not None else ():
        yield from (name for name, _ in _calls(scope))


def _calls(scope: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """The calls of dotted names in a function, without those of the functions in it: these may run at another time."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield ast.unparse(node.func), node
        if not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def _uses(module: Module, scope: ast.AST, value: ast.expr) -> Iterator[ast.expr]:
    """Where a value goes in the end: names it is given are followed, what is only reported does not count."""
    waiting, names = [value], set[str]()
    while waiting:
        current = waiting.pop()
        if _is_reported(module, current):
            continue
        statement = module.statement(current)
        if isinstance(statement, ast.Expr) and statement.value is current:
            continue
        taken = _names_given(statement) if _is_whole_value(module, current, statement) else None
        if taken is None:
            yield current
            continue
        for name in taken - names if len(names) < _MAX_NAMES else ():
            names.add(name)
            waiting += (node for node in loads(scope, name) if module.scope(node) is scope)


def _names_given(statement: ast.stmt | None) -> set[str] | None:
    """The names that a statement gives its value to; None where it is no such statement."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(t, ast.Name) for t in statement.targets):
        return None
    return {target.id for target in statement.targets if isinstance(target, ast.Name)}


def _is_whole_value(module: Module, node: ast.AST, statement: ast.stmt | None) -> bool:
    """Whether an assignment takes the value, or plain arithmetic with it, and no function gets it."""
    while node is not statement:
        node = module.parents[node]
        if isinstance(node, ast.IfExp) or (isinstance(node, ast.Call) and last_name(node.func) not in _CONVERTING):
            return False
    return True


def _is_tested(module: Module, node: ast.AST) -> bool:
    while not isinstance(node, ast.stmt):
        parent = module.parents[node]
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node:
            return True
        node = parent
    return False


def _is_reported(module: Module, node: ast.AST) -> bool:
    """Whether it is only printed, logged or collected, or is the seed of a generator."""
    while not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call) and (module.is_reporting(node) or last_name(node.func) in _COLLECTING):
            return True
        if isinstance(node, ast.keyword) and node.arg == "seed":
            return True
        node = module.parents[node]
    return False
