"""Variables, layers and optimizers made or built once, before the loop or the function that made them each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from whygrad.diagnostics import Fix
from whygrad.fixes.losses import last_binding
from whygrad.fixes.owned import made_in_init
from whygrad.fixes.rewriting import (
    call_at,
    deleted_lines,
    has_own_lines,
    indent_of,
    inserted_at,
    inserted_before,
    moved_lines,
    text_at,
)
from whygrad.fixes.updates import names_in, zipped_variables
from whygrad.source import SourceSpan
from whygrad.source.module import LOOPS, located, parameters


def made_once(made: SourceSpan | None) -> Iterator[Fix]:
    """A statement in a loop is run before the loop; one in a function, before the function; of a maker, its call."""
    found = located(made)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or statement is None:
        return
    module = found[0]
    scope = module.scope(statement)
    if isinstance(statement, ast.Return) and isinstance(scope, ast.FunctionDef):
        calls = module.calls.get(scope.name, [])
        yield from made_once(module.span(calls[0])) if len(calls) == 1 else ()
        return
    around: list[ast.stmt] = [
        n for n in module.ancestors(statement) if isinstance(n, LOOPS) and module.scope(n) is scope
    ]
    if not around and isinstance(scope, ast.FunctionDef) and not names_in(statement) & _local_names(scope, statement):
        around = [scope]
    if not around or not isinstance(statement, (ast.Assign, ast.Expr)) or not has_own_lines(module, statement):
        return
    outer = around[-1]
    if outer is not scope and names_in(statement) & _stored(outer, but=statement):
        return  # it depends on what the loop goes through
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    line = min([outer.lineno, *(each.lineno for each in getattr(outer, "decorator_list", ()))])
    lines = moved_lines(module, [statement], indent_of(module, outer))
    edits = (inserted_at(module, line, lines), deleted_lines(module, first, last))
    text = " ".join(text_at(module, statement).split())
    place = "function" if outer is scope else "loop"
    yield Fix(title=f"run `{text[:50]}` once, before the {place}", edits=edits)


def made_here(made: SourceSpan | None) -> Iterator[Fix]:
    """What is made each time is made once: where its owner is made, or before the loop or the function."""
    yield from made_in_init(made)
    yield from made_once(made)


def owner_made_once(at: SourceSpan | None) -> Iterator[Fix]:
    """The object whose method is called is made before the loop, or the function, that makes it each time."""
    found = call_at(at)
    if found is not None and isinstance(found[1].func, ast.Attribute):
        bound = last_binding(found[0], found[1], ast.unparse(found[1].func.value))
        yield from made_once(None if bound is None else found[0].span(bound))


def built_before(at: SourceSpan | None) -> Iterator[Fix]:
    """An optimizer that a traced function uses is built before the function is traced."""
    found = call_at(at)
    variables = None if found is None else zipped_variables(*found)
    scope = None if found is None else found[0].scope(found[1])
    if found is None or variables is None or not isinstance(found[1].func, ast.Attribute):
        return
    owner = found[1].func.value
    if isinstance(scope, ast.FunctionDef) and not (names_in(owner) | names_in(variables)) & _local_names(
        scope, variables
    ):
        line = f"{text_at(found[0], owner)}.build({text_at(found[0], variables)})"
        yield Fix(title="build the optimizer before the function", edits=(inserted_before(found[0], scope, line),))


def built_for_all(firsts: Sequence[SourceSpan], later: SourceSpan | None) -> Iterator[Fix]:
    """An optimizer is built for the variables of both updates before the first."""
    one, other = call_at(firsts[0] if firsts else None), call_at(later)
    if one is None or other is None or one[0] is not other[0] or not isinstance(one[1].func, ast.Attribute):
        return
    module = one[0]
    lists = [zipped_variables(module, call) for call in (one[1], other[1])]
    statement = module.statement(one[1])
    if None not in lists and statement is not None and has_own_lines(module, statement):
        names = " + ".join(text_at(module, each) for each in lists if each is not None)
        line = inserted_before(module, statement, f"{text_at(module, one[1].func.value)}.build({names})")
        yield Fix(title="build the optimizer for all variables first", edits=(line,))


def _local_names(function: ast.FunctionDef, but: ast.AST) -> set[str]:
    """What a function is given, and what it binds elsewhere."""
    return parameters(function) | _stored(function, but)


def _stored(node: ast.AST, but: ast.AST) -> set[str]:
    nodes = set(ast.walk(node)) - set(ast.walk(but))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
