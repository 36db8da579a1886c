"""Losses and the calls that lead to them: their arguments, their shapes, the terms that were left out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes.rewriting import (
    argument,
    call_at,
    has_own_lines,
    inserted_after,
    operand_text,
    replaced,
    text_at,
    with_argument,
)
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located


def in_training_mode(calls: Iterable[SourceSpan | None]) -> Iterator[Fix]:
    """Calls of a network say `training=True`."""
    edits = list[Edit]()
    for span in dict.fromkeys(calls):
        found = call_at(span)
        if found is None:
            continue
        module, call = found
        flag = argument(call, None, "training")
        edits.append(with_argument(module, call, "training=True") if flag is None else replaced(module, flag, "True"))
    if edits:
        yield Fix(title="call it with `training=True`", edits=tuple(edits))


def exchanged(at: SourceSpan | None) -> Iterator[Fix]:
    """The first two arguments of a call change places."""
    found = call_at(at)
    if found is None:
        return
    module, call = found
    pair = call.args[:2] if len(call.args) >= 2 else [keyword.value for keyword in call.keywords[:2]]
    if len(pair) == 2 and not any(isinstance(each, ast.Starred) for each in pair):
        one, other = pair
        edits = (replaced(module, one, text_at(module, other)), replaced(module, other, text_at(module, one)))
        yield Fix(title="exchange labels and predictions", edits=edits)


def same_shape(at: SourceSpan | None, *, column_first: bool) -> Iterator[Fix]:
    """The side that is a column loses its last axis."""
    found = located(at)
    match None if found is None else found[1]:
        case ast.BinOp(left=left, right=right):
            sides = (left, right)
        case ast.Call(args=[left, right, *_]):
            sides = (left, right)
        case _:
            return
    if found is None:
        return
    module, column = found[0], sides[0 if column_first else 1]
    text = f"{Word.SQUEEZE}({text_at(module, column)}, -1)"
    yield Fix(title="give both sides the same shape", edits=(replaced(module, column, text),))
    row = sides[1 if column_first else 0]
    text = f"{operand_text(module, row)}[:, None]"
    yield Fix(title="give both sides the same shape", edits=(replaced(module, row, text),))


def with_own_terms(asked: SourceSpan | None, called: SourceSpan | None, returned: SourceSpan | None) -> Iterator[Fix]:
    """The terms that a network has collected are added to the loss: where it is bound, or where it is returned."""
    call = located(called)
    name = _network(call)
    request = located(asked)
    if name is not None and request is not None and isinstance(request[1], ast.Call) and request[1].args:
        module, target = request[0], request[1].args[0]
        bound = last_binding(module, request[1], ast.unparse(target))
        if isinstance(target, ast.Name) and bound is not None and has_own_lines(module, bound):
            edit = inserted_after(module, bound, f"{target.id} += {Word.ADD_ALL}({name}.losses)")
            yield Fix(title="add the terms that the network has collected", edits=(edit,))
    made = located(returned)
    statement = None if made is None else made[0].statement(made[1])
    if made is not None and isinstance(statement, ast.Return) and statement.value is not None:
        text = f"{operand_text(made[0], statement.value)} + sum(self.losses)"
        edit = replaced(made[0], statement.value, text)
        yield Fix(title="add the terms that the network has collected", edits=(edit,))


def _network(call: tuple[Module, ast.AST] | None) -> str | None:
    if call is None or not isinstance(call[1], ast.Call):
        return None
    return ast.unparse(call[1].func)


def last_binding(module: Module, before: ast.AST, name: str) -> ast.stmt | None:
    """The last statement before a node, in its function and under a tape, that gives a name its value."""
    scope = module.scope(before)
    found = [
        node
        for node in ast.walk(scope)
        if isinstance(node, (ast.Assign, ast.AugAssign))
        and module.scope(node) is scope
        and node.lineno < getattr(before, "lineno", 0)
        and name in {ast.unparse(t) for t in (node.targets if isinstance(node, ast.Assign) else [node.target])}
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def stacked(asked: SourceSpan | None) -> Iterator[Fix]:
    """What is differentiated is made one tensor at the end of the block before."""
    request = located(asked)
    if request is None or not isinstance(request[1], ast.Call) or not request[1].args:
        return
    module, target = request[0], request[1].args[0]
    bound = last_binding(module, request[1], ast.unparse(target))
    if isinstance(target, ast.Name) and bound is not None:
        blocks = [each for each in module.ancestors(bound) if isinstance(each, ast.With)]
        last = blocks[0].body[-1] if blocks else bound
        text = f"{target.id} = {target.id}.stack()"
        yield Fix(title=f"stack `{target.id}`", edits=(inserted_after(module, last, text),), safety=FixSafety.SAFE)


def compared_with(loss: SourceSpan | None, unused: SourceSpan | None) -> Iterator[Fix]:
    """A loss that compares something with itself compares it with what was computed for it, and not used."""
    found, result = call_at(loss), located(unused)
    statement = None if result is None else result[0].statement(result[1])
    if found is None or len(found[1].args) < 2 or not isinstance(statement, ast.Assign):
        return
    one, other, name = found[1].args[0], found[1].args[1], statement.targets[0]
    if isinstance(other, ast.Call) and last_name(other.func) in ("ones_like", "zeros_like") and other.args:
        name = other.args[0]
    elif result is None or result[0].scope(statement) not in (found[0].scope(found[1]), found[0].tree):
        return
    if isinstance(name, ast.Name) and ast.unparse(one) == ast.unparse(other):
        yield Fix(title=f"compare it with `{name.id}`", edits=(replaced(found[0], other, name.id),))


_OPPOSITE: Final = {ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">"}
_OPPOSITES: Final = {"equal": "not_equal", "not_equal": "equal", "less": "greater_equal", "greater": "less_equal"}


def turned_round(made: SourceSpan | None) -> Iterator[Fix]:
    """The only comparison in the statement that makes a mask is turned into its opposite."""
    found = located(made)
    statement = None if found is None else found[0].statement(found[1])
    nodes = [] if statement is None else list(ast.walk(statement))
    compared = [n for n in nodes if isinstance(n, ast.Compare) and len(n.ops) == 1 and type(n.ops[0]) in _OPPOSITE]
    called = [n.func for n in nodes if isinstance(n, ast.Call) and last_name(n.func) in _OPPOSITES]
    if found is None or len(compared) + len(called) != 1:
        return
    edit = None
    for compare in compared:
        left, right = text_at(found[0], compare.left), text_at(found[0], compare.comparators[0])
        edit = replaced(found[0], compare, f"{left} {_OPPOSITE[type(compare.ops[0])]} {right}")
    for function in called:
        name = last_name(function)
        edit = replaced(found[0], function, text_at(found[0], function).removesuffix(name) + _OPPOSITES[name])
    if edit is not None:
        yield Fix(title="invert the mask: it keeps nothing", edits=(edit,))
