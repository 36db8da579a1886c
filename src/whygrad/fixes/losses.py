"""Losses and the calls that lead to them: their arguments, their shapes, the terms that were left out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes import rewriting as rw
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, targets_of


def in_training_mode(calls: Iterable[SourceSpan | None]) -> Iterator[Fix]:
    """Calls of a network say `training=True`."""
    found = filter(None, map(rw.call_at, dict.fromkeys(calls)))
    edits = [rw.with_option(module, call, "training", "True") for module, call in found]
    if edits:
        yield Fix(title="call it with `training=True`", edits=tuple(edits))


@rw.on_call
def exchanged(module: Module, call: ast.Call) -> Iterator[Fix]:
    """The first two arguments of a call change places."""
    pair = call.args[:2] if len(call.args) >= 2 else [keyword.value for keyword in call.keywords[:2]]
    if len(pair) == 2 and not any(isinstance(each, ast.Starred) for each in pair):
        one, other = pair
        edits = (
            rw.replaced(module, one, rw.text_at(module, other)),
            rw.replaced(module, other, rw.text_at(module, one)),
        )
        yield Fix(title="exchange labels and predictions", edits=edits)


@rw.on_node
def same_shape(module: Module, at: ast.AST, *, column_first: bool) -> Iterator[Fix]:
    """The side that is a column loses its last axis."""
    match at:
        case ast.BinOp(left=left, right=right) | ast.Call(args=[left, right, *_]):
            column, row = (left, right) if column_first else (right, left)
        case _:
            return
    text = f"{Word.SQUEEZE}({rw.text_at(module, column)}, -1)"
    yield Fix(title="give both sides the same shape", edits=(rw.replaced(module, column, text),))
    text = f"{rw.operand_text(module, row)}[:, None]"
    yield Fix(title="give both sides the same shape", edits=(rw.replaced(module, row, text),))


def with_own_terms(asked: SourceSpan | None, called: SourceSpan | None, returned: SourceSpan | None) -> Iterator[Fix]:
    """The terms that a network has collected are added to the loss: where it is bound, or where it is returned."""
    network, found = rw.call_at(called), target_of(asked)
    if network is not None and found is not None and rw.has_own_lines(found[0], found[2]):
        module, target, bound = found
        edit = rw.inserted_after(module, bound, f"{target.id} += {Word.ADD_ALL}({ast.unparse(network[1].func)}.losses)")
        yield Fix(title="add the terms that the network has collected", edits=(edit,))
    match rw.statement_at(returned):
        case (module, ast.Return(value=ast.expr() as value)):
            edit = rw.replaced(module, value, f"{rw.operand_text(module, value)} + sum(self.losses)")
            yield Fix(title="add the terms that the network has collected", edits=(edit,))


def target_of(asked: SourceSpan | None) -> tuple[Module, ast.Name, ast.stmt] | None:
    """The name of what a request differentiates, and the last statement that gave it its value."""
    match rw.call_at(asked):
        case (module, ast.Call(args=[ast.Name() as target, *_]) as request):
            bound = last_binding(module, request, target.id)
            return None if bound is None else (module, target, bound)
    return None


def last_binding(module: Module, before: ast.AST, name: str) -> ast.stmt | None:
    """The last statement before a node, in its function and under a tape, that gives a name its value."""
    scope = module.scope(before)
    found = [
        node
        for node in ast.walk(scope)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        and module.scope(node) is scope
        and node.lineno < getattr(before, "lineno", 0)
        and name in map(ast.unparse, targets_of(node))
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def stacked(asked: SourceSpan | None) -> Iterator[Fix]:
    """What is differentiated is made one tensor at the end of the block before."""
    found = target_of(asked)
    if found is not None:
        module, target, bound = found
        block = module.around(bound, ast.With)
        last = bound if block is None else block.body[-1]
        text = f"{target.id} = {target.id}.stack()"
        yield Fix(title=f"stack `{target.id}`", edits=(rw.inserted_after(module, last, text),), safety=FixSafety.SAFE)


@rw.on_call
def compared_with(module: Module, call: ast.Call, unused: SourceSpan | None) -> Iterator[Fix]:
    """A loss that compares something with itself compares it with what was computed for it, and not used."""
    result = rw.statement_at(unused)
    if result is None or len(call.args) < 2 or not isinstance(result[1], ast.Assign):
        return
    one, other, name = call.args[0], call.args[1], result[1].targets[0]
    if isinstance(other, ast.Call) and last_name(other.func) in ("ones_like", "zeros_like") and other.args:
        name = other.args[0]
    elif result[0].scope(result[1]) not in (module.scope(call), module.tree):
        return
    if isinstance(name, ast.Name) and ast.unparse(one) == ast.unparse(other):
        yield Fix(title=f"compare it with `{name.id}`", edits=(rw.replaced(module, other, name.id),))


_OPPOSITE: Final = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">"}
_OPPOSITES: Final = {"equal": "not_equal", "not_equal": "equal", "less": "greater_equal", "greater": "less_equal"}


@rw.on_statement
def turned_round(module: Module, made: ast.stmt) -> Iterator[Fix]:
    """The only comparison in the statement that makes a mask is turned into its opposite."""
    nodes = list(ast.walk(made))
    compared = [n for n in nodes if isinstance(n, ast.Compare) and len(n.ops) == 1 and type(n.ops[0]) in _OPPOSITE]
    called = [n.func for n in nodes if isinstance(n, ast.Call) and last_name(n.func) in _OPPOSITES]
    edits = list[Edit]()
    for compare in compared:
        left, right = rw.text_at(module, compare.left), rw.text_at(module, compare.comparators[0])
        edits.append(rw.replaced(module, compare, f"{left} {_OPPOSITE[type(compare.ops[0])]} {right}"))
    for function in called:
        name = last_name(function)
        edits.append(rw.replaced(module, function, rw.text_at(module, function).removesuffix(name) + _OPPOSITES[name]))
    if len(edits) == 1:
        yield Fix(title="invert the mask: it keeps nothing", edits=tuple(edits))
