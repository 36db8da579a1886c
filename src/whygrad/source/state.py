"""Which names a function changes and lets its branches depend on, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from whygrad.source.bodies import (
    NO_OBJECTS,
    Bodies,
    Defined,
    Objects,
    dotted,
    is_done_once,
    is_printed,
    reads,
    shared_names,
)
from whygrad.source.module import FUNCTIONS, LOOPS, Module, loads, located, parameters, plain_names, targets_of
from whygrad.source.text import SourceSpan

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutation:
    name: str  # `self.count`, or a global name
    where: SourceSpan
    read: SourceSpan


def mutations(span: SourceSpan, objects: Objects = NO_OBJECTS) -> Iterator[Mutation]:
    """Names that the function around a span uses and changes by what they were, itself or by what it runs.

    `objects`: those it reaches by a name, whose methods it may run.
    """
    found = _function_around(span)
    if found is None:
        return
    module, bodies = found[0], Bodies(*found, objects)
    for body in bodies.all:
        for statement, name in _changes_in(body.function, (ast.AugAssign, ast.Assign)):
            counts = isinstance(statement, ast.AugAssign) or any(reads(statement.value, name))
            read = next(bodies.uses(body.outer(name), statement), None) if counts else None
            if read is not None:
                yield Mutation(body.outer(name), module.span(statement), module.span(read))


def replacements(span: SourceSpan) -> Iterator[Mutation]:
    """Names that the function around a span reads, and gives another value after that."""
    found = _function_around(span)
    if found is None:
        return
    module, function = found
    for statement, name in _changes_in(function, (ast.Assign,)):
        others = _other_reads(module, function, name, statement)
        read = next((node for node in others if node.lineno < statement.lineno), None)
        if read is not None:
            yield Mutation(name, module.span(statement), module.span(read))


def _changes_in(
    function: ast.AST, kinds: tuple[type[ast.Assign | ast.AugAssign], ...]
) -> Iterator[tuple[ast.Assign | ast.AugAssign, str]]:
    """Statements of a function that change an attribute or an outer name, with that name."""
    shared = shared_names(function)
    for statement in ast.walk(function):
        targets = targets_of(statement)
        if isinstance(statement, kinds) and len(targets) == 1:
            name = ast.unparse(targets[0])
            if isinstance(targets[0], ast.Attribute) or name in shared:
                yield statement, name


def helpers_of(module: Module, function: ast.AST) -> list[ast.AST]:
    """What a function runs of its module: methods and properties of its object, and functions, and what these run."""
    return [each.function for each in Bodies(module, function).all[1:]]


def _function_around(span: SourceSpan) -> tuple[Module, Defined] | None:
    found = located(span)
    function = None if found is None else found[0].scope(found[1])
    if found is None or not isinstance(function, _DEFINED):
        return None
    return found[0], function


def _other_reads(module: Module, function: ast.AST, name: str, change: ast.stmt) -> Iterator[ast.expr]:
    """Where the function uses the name; the change itself and printing do not count."""
    for node in reads(function, name):
        if not is_printed(module, node) and module.statement(node) is not change:
            yield node


def changed_outside(span: SourceSpan, name: str) -> Mutation | None:
    """Where a name that the function around a span uses is changed by a loop, or a function, outside of it."""
    found = _function_around(span)
    if found is None or name in parameters(found[1]) | plain_names(found[1], ast.Store):
        return None
    module, function = found
    read = next((load for load in loads(function, name) if not is_printed(module, load)), None)
    if read is None:
        return None
    inside = set(ast.walk(function))
    for statement in ast.walk(module.tree):
        if statement not in inside and _changes(statement, name) and _happens_again(module, statement, function, name):
            place = statement.target if isinstance(statement, ast.For) else statement
            return Mutation(name, module.span(place), module.span(read))
    return None


def _changes(statement: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AugAssign | ast.For]:
    is_change = isinstance(statement, (ast.Assign, ast.AugAssign, ast.For))
    return is_change and any(name in plain_names(target) for target in targets_of(statement))


def _happens_again(module: Module, statement: ast.stmt, function: ast.AST, name: str) -> bool:
    """In a loop, in the scope that the function sees the name in; or in a function that declares it its own."""
    around = module.scope(statement)
    if isinstance(around, _DEFINED) and name in shared_names(around):
        return True
    if function not in set(ast.walk(around)):
        return False
    loop = statement if isinstance(statement, LOOPS) else module.around(statement, *LOOPS, *FUNCTIONS)
    # A function made in the loop is traced anew each time.
    return isinstance(loop, LOOPS) and function not in set(ast.walk(loop))


def attribute_reads(span: SourceSpan, attribute: str) -> SourceSpan | None:
    """Where the function around a span, or a helper that it calls, first uses `self.attribute`."""
    found = located(span)
    if found is None:
        return None
    module, function = found[0], found[0].scope(found[1])
    for body in (function, *helpers_of(module, function)):
        named = (n for n in ast.walk(body) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
        reads = (n for n in named if n.attr == attribute and ast.unparse(n) == f"self.{attribute}")
        if (first := min((module.span(read) for read in reads), default=None)) is not None:
            return first
    return None


def global_reads(span: SourceSpan, name: str) -> SourceSpan | None:
    """Where the function around a span, or a helper that it calls, first uses a global name, other than to print it or
    to count it up."""
    found = located(span)
    if found is None:
        return None
    module, function = found[0], found[0].scope(found[1])
    if isinstance(function, ast.Module):
        return None
    for body in (function, *(each for each in helpers_of(module, function) if not _is_own(each, name))):
        reads = (load for load in loads(body, name) if not is_printed(module, load))
        first = min((module.span(load) for load in reads if not _counts_itself(module, load)), default=None)
        if first is not None:
            return first
    return None


def _is_own(function: ast.AST, name: str) -> bool:
    """Whether a function has a name of its own by this word."""
    return name in parameters(function) or name in plain_names(function, ast.Store) - shared_names(function)


def uses_of(span: SourceSpan, name: str, objects: Objects = NO_OBJECTS) -> SourceSpan | None:
    """Where the function around a span, or what it runs, first uses a dotted name, other than to print it or to call it
    for nothing."""
    found = _function_around(span)
    if found is None:
        return None
    module = found[0]
    used = [node for node in Bodies(*found, objects).uses(name) if not _is_told(module, node)]
    return min((module.span(node) for node in used), default=None)


def _is_told(module: Module, node: ast.expr) -> bool:
    """`log.note(x)` as a statement, of `log`."""
    statement = module.statement(node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and node in set(ast.walk(call.func))


def names_in(span: SourceSpan, objects: Objects = NO_OBJECTS) -> frozenset[str]:
    """The names in the function around a span and what it runs, dotted too: `n`, `self.count`, `np.random.normal`."""
    found = _function_around(span)
    bodies = [] if found is None else Bodies(*found, objects).all
    names = ((body, dotted(node)) for body in bodies for node in ast.walk(body.function))
    return frozenset(body.outer(name) for body, name in names if name is not None)


def _counts_itself(module: Module, node: ast.Name) -> bool:
    """`n = n + 1`"""
    statement = module.statement(node)
    return isinstance(statement, ast.Assign) and any(ast.unparse(target) == node.id for target in statement.targets)


def is_guard(span: SourceSpan, name: str) -> bool:
    """Whether the function around a span uses a name for nothing but `if not name: ...; name = True`.

    What such a branch does when the function is traced is meant to be done once; unless it writes to a variable,
    returns, or binds a name that is used after it: these would be done, or missing, in every later call.
    """
    found = _function_around(span)
    if found is None:
        return False
    module, function = found
    guards = [module.statement(node) for node in reads(function, name)]
    return bool(guards) and all(
        isinstance(guard, ast.If) and not guard.orelse and _is_done_once(function, guard, name) for guard in guards
    )


def _is_done_once(function: ast.AST, guard: ast.If, name: str) -> bool:
    nodes = [node for statement in guard.body for node in ast.walk(statement)]
    sets = any(
        isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and name in map(ast.unparse, node.targets)
        for node in nodes
    )
    return sets and is_done_once(function, nodes)
