"""Networks and layers: copies in place of second names, other activations, numbers with more room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Word
from whygrad.fixes.losses import last_binding
from whygrad.fixes.rewriting import (
    argument,
    call_at,
    expression_at,
    has_own_lines,
    inserted_after,
    replaced,
    text_at,
    with_argument,
)
from whygrad.source import SourceSpan
from whygrad.source.module import last_name, located

_TINY: Final = 1e-6  # an epsilon below this does not keep a norm away from zero in float32


def each_made_anew(at: SourceSpan | None) -> Iterator[Fix]:
    """`[make()] * n` becomes `[make() for _ in range(n)]`."""
    found = expression_at(at)
    match None if found is None else found[1]:
        case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=count) as node if found is not None:
            text = f"[{text_at(found[0], one)} for _ in range({text_at(found[0], count)})]"
            yield Fix(title="make each one separately", edits=(replaced(found[0], node, text),))


def copied(at: SourceSpan | None) -> Iterator[Fix]:
    """`target = network` becomes a copy, with the same weights."""
    found = located(at)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or not isinstance(statement, ast.Assign) or not has_own_lines(found[0], statement):
        return
    module, target, value = found[0], text_at(found[0], statement.targets[0]), text_at(found[0], statement.value)
    edits = (
        replaced(module, statement.value, f"{Word.CLONE}({value})"),
        inserted_after(module, statement, f"{target}.set_weights({value}.get_weights())"),
    )
    yield Fix(title=f"make `{target}` a copy", edits=edits)


def wider(at: SourceSpan | None) -> Iterator[Fix]:
    """What goes into nested calls is cast to float32 first."""
    found = call_at(at)
    if found is None:
        return
    module, call = found
    while call.args and isinstance(call.args[0], ast.Call):
        call = call.args[0]
    if call.args and not isinstance(call.args[0], ast.Starred):
        text = f"{Word.CAST}({text_at(module, call.args[0])}, {Word.FLOAT32})"
        yield Fix(title="compute this in float32", edits=(replaced(module, call.args[0], text),))


def scaled_loss(applied: SourceSpan | None, asked: SourceSpan | None) -> Iterator[Fix]:
    """The gradient is asked of the loss as the optimizer scales it."""
    update, request = call_at(applied), call_at(asked)
    if update is None or request is None or not isinstance(update[1].func, ast.Attribute) or not request[1].args:
        return
    module, target = request[0], request[1].args[0]
    bound = last_binding(module, request[1], ast.unparse(target))
    if isinstance(target, ast.Name) and bound is not None and has_own_lines(module, bound):
        owner = text_at(update[0], update[1].func.value)
        line = f"scaled_{target.id} = {owner}.scale_loss({target.id})"
        edits = (inserted_after(module, bound, line), replaced(module, target, f"scaled_{target.id}"))
        yield Fix(title="scale the loss inside the tape", edits=edits)


def larger_epsilon(at: SourceSpan | None) -> Iterator[Fix]:
    """The number that keeps a norm away from zero is large enough to do so."""
    found = expression_at(at)
    if found is None:
        return
    module, node = found
    small = [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, float) and 0 < each.value < _TINY
    ]
    if isinstance(node, ast.Call) and "normalize" in last_name(node.func):
        known = argument(node, None, "epsilon")
        edit = with_argument(module, node, "epsilon=1e-4") if known is None else replaced(module, known, "1e-4")
        yield Fix(title="raise epsilon", edits=(edit,))
    elif small:
        yield Fix(title="raise epsilon", edits=tuple(replaced(module, each, "1e-4") for each in small))


def leaking(made: SourceSpan | None) -> Iterator[Fix]:
    """A rectifier that passes a little on below zero."""
    found = call_at(made)
    activation = None if found is None else argument(found[1], 1, "activation")
    if found is not None and isinstance(activation, ast.Constant) and activation.value == "relu":
        edit = replaced(found[0], activation, '"leaky_relu"')
        yield Fix(title="use an activation that is not flat below zero", edits=(edit,))
