"""The update: gradients beside the wrong variables, a forgetful optimizer, a late clip, `=` for `assign`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code, called, last_line
from .operator import Change, Harm, Operator

APPLY = ("apply_gradients", "apply", "minimize")
CLIP = ("clip_by_global_norm", "clip_by_norm", "clip_by_value")
SIGNS = {"assign": "{1}", "assign_add": "{0} + ({1})", "assign_sub": "{0} - ({1})"}


def rows_swapped(code: Code) -> Iterator[Change]:
    """`zip(gradients, variables)` with one of the two lists in another order."""
    for node in ast.walk(code.tree):
        if not called(node, "apply_gradients"):
            continue
        for inner in ast.walk(node):
            match inner:
                case ast.Call(func=ast.Name(id="zip"), args=[gradients, variables]):
                    statement = code.statement_of(node)
                    for old, order in ((gradients, "[*{}][::-1]"), (variables, "[*({0})[1:], *({0})[:1]]")):
                        text = code.replaced((old, order.format(code.of(old))))
                        yield Change(text, statement.lineno, last_line(statement))


def optimizer_in_the_step(code: Code) -> Iterator[Change]:
    """The optimizer made just before it is used, in the function or the loop that is the step."""
    for made in ast.walk(code.tree):
        match made:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if "optimizers." in code.of(
                value.func
            ):
                for statement in ast.walk(code.tree):
                    if (
                        isinstance(statement, ast.Expr)
                        and _applies(statement.value, name)
                        and code.stands_alone(statement)
                    ) and _is_repeated(code, statement, made):
                        row = f"{code.indent(statement)}{name} = {code.of(value)}\n"
                        line = statement.lineno
                        yield Change(code.rewritten([], {line: [row]}), line, last_line(statement) + 1)


def _applies(node: ast.AST, optimizer: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return name == optimizer and method in APPLY
    return False


def _is_repeated(code: Code, statement: ast.stmt, made: ast.stmt) -> bool:
    """Whether a statement runs more often than the one that makes the optimizer."""
    around = set(code.above(made))
    return any(
        isinstance(each, ast.FunctionDef | ast.For | ast.While) and each not in around for each in code.above(statement)
    )


def clipped_late(code: Code) -> Iterator[Change]:
    """`gradients = clip(gradients)` after the update that should have used it."""
    for clip in ast.walk(code.tree):
        if not isinstance(clip, ast.Assign) or not code.stands_alone(clip):
            continue
        call = next((each for each in ast.walk(clip.value) if called(each, *CLIP)), None)
        applied = _next_update(code, clip)
        match clip.targets[0]:
            case ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_]):
                pass
            case _:
                continue
        if not isinstance(call, ast.Call) or applied is None:
            continue
        indent = code.indent(clip)
        source = _taken_from(clip, call)
        text = code.replaced((source, name)) if not isinstance(source, ast.Name) else code.text
        late = [indent + row for row in _statement_at(Code(text), clip.lineno)]
        before = [] if isinstance(source, ast.Name) else [f"{indent}{name} = {code.of(source)}\n"]
        inserted = {clip.lineno: before, last_line(applied) + 1: late}
        line = last_line(applied) + 1 - (last_line(clip) - clip.lineno + 1) + len(before)
        yield Change(code.rewritten([clip], inserted), line, line + len(late) - 1)


def _taken_from(clip: ast.Assign, call: ast.Call) -> ast.expr:
    """Where the gradients come from: what is clipped, or what a comprehension runs over."""
    match clip.value:
        case ast.ListComp(generators=[ast.comprehension(iter=source)]):
            return source
    return call.args[0]


def _statement_at(code: Code, line: int) -> list[str]:
    statement = next(each for each in ast.walk(code.tree) if isinstance(each, ast.Assign) and each.lineno == line)
    return code.lines_of(statement, "")


def _next_update(code: Code, statement: ast.stmt) -> ast.stmt | None:
    """The statement after this one, in the same block, that applies gradients."""
    body: list[ast.stmt] = getattr(code.parents[statement], "body", [])
    if statement not in body:
        return None
    for each in body[body.index(statement) + 1 :]:
        if any(called(inner, *APPLY) for inner in ast.walk(each)):
            return each
    return None


def rebound(code: Code) -> Iterator[Change]:
    """`v.assign(x)` turned into `v = x`, `v.assign_sub(x)` into `v = v - x`."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=method),
                    args=[value],
                    keywords=[],
                )
            ) if method in SIGNS:
                name = code.of(owner)
                new = SIGNS[method].format(name, code.of(value))
                yield Change(code.replaced((node, f"{name} = {new}")), node.lineno, last_line(node))


OPERATORS = [
    Operator("rows", ("misrouted-gradient",), (Harm.OTHER_VALUES, Harm.DIED), rows_swapped),
    Operator(
        "optimizer_in_step",
        ("optimizer-recreated", "variable-created-in-tf-function"),
        (Harm.OTHER_VALUES, Harm.DIED),
        optimizer_in_the_step,
    ),
    Operator("late_clip", ("clip-unused",), (Harm.OTHER_VALUES,), clipped_late),
    Operator("rebind", ("variable-rebound",), (Harm.UNMOVED, Harm.NONE), rebound),
]
