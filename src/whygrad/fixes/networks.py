"""Networks and layers: copies in place of second names, other activations, numbers with more room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Word
from whygrad.fixes import rewriting as rw
from whygrad.fixes.losses import target_of
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name

_TINY: Final = 1e-6  # an epsilon below this does not keep a norm away from zero in float32


@rw.on_expression
def each_made_anew(module: Module, at: ast.expr) -> Iterator[Fix]:
    """`[make()] * n` becomes `[make() for _ in range(n)]`."""
    match at:
        case ast.BinOp(left=ast.List(elts=[one]), op=ast.Mult(), right=count):
            text = f"[{rw.text_at(module, one)} for _ in range({rw.text_at(module, count)})]"
            yield Fix(title="make each one separately", edits=(rw.replaced(module, at, text),))


@rw.on_statement
def copied(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """`target = network` becomes a copy, with the same weights."""
    if not isinstance(statement, ast.Assign) or not rw.has_own_lines(module, statement):
        return
    target, value = rw.text_at(module, statement.targets[0]), rw.text_at(module, statement.value)
    edits = (
        rw.replaced(module, statement.value, f"{Word.CLONE}({value})"),
        rw.inserted_after(module, statement, f"{target}.set_weights({value}.get_weights())"),
    )
    yield Fix(title=f"make `{target}` a copy", edits=edits)


@rw.on_call
def wider(module: Module, call: ast.Call) -> Iterator[Fix]:
    """What goes into nested calls is cast to float32 first."""
    while call.args and isinstance(call.args[0], ast.Call):
        call = call.args[0]
    if call.args and not isinstance(call.args[0], ast.Starred):
        text = f"{Word.CAST}({rw.text_at(module, call.args[0])}, {Word.FLOAT32})"
        yield Fix(title="compute this in float32", edits=(rw.replaced(module, call.args[0], text),))


@rw.on_call
def scaled_loss(home: Module, update: ast.Call, asked: SourceSpan | None) -> Iterator[Fix]:
    """The gradient is asked of the loss as the optimizer scales it."""
    found = target_of(asked)
    if found is not None and isinstance(update.func, ast.Attribute) and rw.has_own_lines(found[0], found[2]):
        module, target, bound = found
        owner = rw.text_at(home, update.func.value)
        line = f"scaled_{target.id} = {owner}.scale_loss({target.id})"
        edits = (rw.inserted_after(module, bound, line), rw.replaced(module, target, f"scaled_{target.id}"))
        yield Fix(title="scale the loss inside the tape", edits=edits)


@rw.on_expression
def larger_epsilon(module: Module, node: ast.expr) -> Iterator[Fix]:
    """The number that keeps a norm away from zero is large enough to do so."""
    small = [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, float) and 0 < each.value < _TINY
    ]
    if isinstance(node, ast.Call) and "normalize" in last_name(node.func):
        yield Fix(title="raise epsilon", edits=(rw.with_option(module, node, "epsilon", "1e-4"),))
    elif small:
        yield Fix(title="raise epsilon", edits=tuple(rw.replaced(module, each, "1e-4") for each in small))


@rw.on_call
def leaking(module: Module, made: ast.Call) -> Iterator[Fix]:
    """A rectifier that passes a little on below zero."""
    activation = rw.argument(made, 1, "activation")
    if isinstance(activation, ast.Constant) and activation.value == "relu":
        edit = rw.replaced(module, activation, '"leaky_relu"')
        yield Fix(title="use an activation that is not flat below zero", edits=(edit,))
