"""Python values that are baked in when a step is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.questions import options
from whygrad.lint.values.value import Function, Kind, Literal, Node, Scope, Value
from whygrad.source.module import parameters

_CLOCKS = ("random.random", "random.uniform", "random.randint", "random.choice", "random.gauss", "time.time")


@rules(python_state_in_graph="WL603")
def chance_while_tracing(case: Case) -> Iterator[Finding]:
    """Random numbers of Python or NumPy, drawn once and then part of the graph."""
    for node in case.facts.nodes:
        where = node.where
        if node.place is None or node.place.traced is None or not isinstance(where, ast.Call):
            continue
        called = ast.unparse(where.func)
        drawn = node.kind is Kind.ARRAY and ".random." in called and not called.endswith((".seed", "default_rng"))
        if (drawn or called in _CLOCKS) and not isinstance(case.module.parents.get(where), ast.Expr):
            yield Finding(
                rule="python-state-in-graph",
                message=f"`{called}` is called once, while `{Word.COMPILED_FUNCTION}` is traced, and never again",
                primary=case.label(where, "the same number in every step"),
                help=f"draw it with `{Word.RANDOM_UNIFORM}` or a similar function, or pass it in as a tensor",
                severity=Severity.WARNING,
            )


@rules(python_state_in_graph="WL603")
def number_from_outside(case: Case) -> Iterator[Finding]:
    """A Python number that a loop changes, and that a compiled function reads by its name."""
    for function in _compiled(case):
        names = [each for each in ast.walk(function.node) if isinstance(each, ast.Name)]
        own = {each.id for each in names if isinstance(each.ctx, ast.Store)} | parameters(function.node)
        for read in names:
            if not isinstance(read.ctx, ast.Load) or read.id in own:
                continue
            if not _is_number(function.scope, read.id) or _is_only_compared(case, read):
                continue
            change = _changed_in_loop(case, function, read.id)
            if change is not None:
                own.add(read.id)
                yield Finding(
                    rule="python-state-in-graph",
                    message=f"`{read.id}` is baked in when `{Word.COMPILED_FUNCTION}` is traced, and later values are not seen",
                    primary=case.label(read, "read once, while tracing"),
                    related=(case.label(change, "changed here"),),
                    help="pass it in as a tensor argument, or keep it in a variable that is not trained",
                    severity=Severity.WARNING,
                )


def _compiled(case: Case) -> Iterator[Function]:
    seen: set[int] = set()
    for function in case.facts.functions:
        if function.compiled and id(function.node) not in seen and not isinstance(function.node, ast.Lambda):
            seen.add(id(function.node))
            yield function


def _is_number(scope: Scope, name: str) -> bool:
    value = scope.find(name)
    return value is not None and all(map(_is_python_number, options(value)))


def _is_python_number(value: Value) -> bool:
    if isinstance(value, Literal):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    return isinstance(value, Node) and value.kind is Kind.NUMBER


def _is_only_compared(case: Case, read: ast.Name) -> bool:
    """`if step == 0:` chooses what is traced, on purpose as a rule."""
    return any(isinstance(each, (ast.Compare, ast.JoinedStr)) for each in case.module.ancestors(read))


def _changed_in_loop(case: Case, function: Function, name: str) -> ast.stmt | None:
    """Where, in a loop that also calls the function, the name is bound anew."""
    called = getattr(function.node, "name", "")
    for loop in ast.walk(case.module.tree):
        if not isinstance(loop, (ast.For, ast.While)) or function.node in set(ast.walk(loop)):
            continue
        inside = list(ast.walk(loop))
        if not any(isinstance(each, ast.Call) and ast.unparse(each.func) == called for each in inside):
            continue
        if case.module.scope(loop) is not case.module.scope(function.node):
            continue
        for each in inside:
            if isinstance(each, (ast.Assign, ast.AugAssign)) and name in _names(each):
                return each
    return None


def _names(statement: ast.Assign | ast.AugAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
