"""Variables, layers and optimizers made or built once, before the loop or the function that made them each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from whygrad.diagnostics import Fix
from whygrad.fixes import rewriting as rw
from whygrad.fixes.losses import last_binding
from whygrad.fixes.owned import made_in_init
from whygrad.fixes.updates import zipped_variables
from whygrad.source import SourceSpan
from whygrad.source.module import Module, parameters, plain_names


@rw.on_statement
def made_once(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """A statement in a loop is run before the loop; one in a function, before the function; of a maker, its call."""
    scope = module.scope(statement)
    if isinstance(statement, ast.Return) and isinstance(scope, ast.FunctionDef):
        calls = module.calls.get(scope.name, [])
        yield from made_once(module.span(calls[0])) if len(calls) == 1 else ()
        return
    around: list[ast.stmt] = [*module.loops_around(statement)]
    names = plain_names(statement)
    if not around and isinstance(scope, ast.FunctionDef) and not names & _local_names(scope, statement):
        around = [scope]
    if not around or not isinstance(statement, (ast.Assign, ast.Expr)) or not rw.has_own_lines(module, statement):
        return
    outer = around[-1]
    if outer is not scope and names & _stored(outer, but=statement):
        return  # it depends on what the loop goes through
    line = min([outer.lineno, *(each.lineno for each in getattr(outer, "decorator_list", ()))])
    lines = rw.moved_lines(module, [statement], rw.indent_of(module, outer))
    edits = (rw.inserted_at(module, line, lines), rw.deleted(module, statement))
    text = rw.on_one_line(module, statement)
    place = "function" if outer is scope else "loop"
    yield Fix(title=f"run `{text[:50]}` once, before the {place}", edits=edits)


def made_here(made: SourceSpan | None) -> Iterator[Fix]:
    """What is made each time is made once: where its owner is made, or before the loop or the function."""
    yield from made_in_init(made)
    yield from made_once(made)


@rw.on_call
def owner_made_once(module: Module, call: ast.Call) -> Iterator[Fix]:
    """The object whose method is called is made before the loop, or the function, that makes it each time."""
    if isinstance(call.func, ast.Attribute):
        bound = last_binding(module, call, ast.unparse(call.func.value))
        yield from made_once(None if bound is None else module.span(bound))


@rw.on_call
def built_before(module: Module, call: ast.Call) -> Iterator[Fix]:
    """An optimizer that a traced function uses is built before the function is traced."""
    variables, scope = zipped_variables(module, call), module.scope(call)
    if variables is None or not isinstance(call.func, ast.Attribute) or not isinstance(scope, ast.FunctionDef):
        return
    owner = call.func.value
    if not (plain_names(owner) | plain_names(variables)) & _local_names(scope, variables):
        line = f"{rw.text_at(module, owner)}.build({rw.text_at(module, variables)})"
        yield Fix(title="build the optimizer before the function", edits=(rw.inserted_before(module, scope, line),))


def built_for_all(firsts: Sequence[SourceSpan], later: SourceSpan | None) -> Iterator[Fix]:
    """An optimizer is built for the variables of both updates before the first."""
    one, other = rw.call_at(firsts[0] if firsts else None), rw.call_at(later)
    if one is None or other is None or one[0] is not other[0] or not isinstance(one[1].func, ast.Attribute):
        return
    module = one[0]
    lists = [zipped_variables(module, call) for call in (one[1], other[1])]
    statement = module.statement(one[1])
    if None not in lists and statement is not None and rw.has_own_lines(module, statement):
        names = " + ".join(rw.text_at(module, each) for each in lists if each is not None)
        line = rw.inserted_before(module, statement, f"{rw.text_at(module, one[1].func.value)}.build({names})")
        yield Fix(title="build the optimizer for all variables first", edits=(line,))


def _local_names(function: ast.FunctionDef, but: ast.AST) -> set[str]:
    """What a function is given, and what it binds elsewhere."""
    return parameters(function) | _stored(function, but)


def _stored(node: ast.AST, but: ast.AST) -> set[str]:
    nodes = set(ast.walk(node)) - set(ast.walk(but))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
