"""A hard value whose gradient goes straight through: the values stay, the gradient is that of a soft twin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Word
from whygrad.fixes.rewriting import (
    argument,
    call_at,
    deleted_lines,
    expression_at,
    has_own_lines,
    in_parentheses,
    operand_text,
    replaced,
    text_at,
    with_argument,
)
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located

_INDEX: Final = ("argmax", "argmin")
_CASTS: Final = ("cast", "astype", "saturate_cast", "convert_image_dtype")


def rounded(at: SourceSpan | None) -> Iterator[Fix]:
    """`round(x)` becomes `x + stop_gradient(round(x) - x)`; and else `x` itself."""
    found = call_at(at)
    if found is None or not found[1].args:
        return
    module, call = found
    value = call.args[0]
    if not isinstance(value, ast.Starred):
        yield _through(module, call, operand_text(module, value), text_at(module, call))
        yield Fix(
            title=f"keep `{text_at(module, value)}` as it is",
            edits=(replaced(module, call, operand_text(module, value)),),
        )


def uncast(at: SourceSpan | None) -> Iterator[Fix]:
    """A cast to a type without a gradient: the way there and back is passed straight through, or left out."""
    found = call_at(at)
    if found is None or last_name(found[1].func) not in _CASTS:
        return
    module, call = found
    value = getattr(call.func, "value", None) if last_name(call.func) == "astype" else call.args[0]
    if not isinstance(value, ast.expr):
        return
    back = _enclosing_cast(module, call)
    soft = operand_text(module, value)
    if back is not None:
        yield _through(module, back, soft, text_at(module, back))
    yield Fix(title=f"keep `{text_at(module, value)}` in floating point", edits=(replaced(module, call, soft),))


def _through(module: Module, node: ast.expr, soft: str, hard: str) -> Fix:
    text = f"{soft} + {Word.STOP_GRADIENT}({hard} - {soft})"
    return Fix(
        title="keep the value and pass the gradient straight through",
        edits=(replaced(module, node, in_parentheses(module, node, text)),),
    )


def _enclosing_cast(module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes numbers of a truth value or a whole number, here or where its name is used."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and last_name(parent.func) == "cast":
        return parent
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and last_name(parent.func) == "where":
        return parent if len(parent.args) == 3 and all(isinstance(a, ast.Constant) for a in parent.args[1:]) else None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name, scope = parent.targets[0].id, module.scope(node)
        uses = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        around = [module.parents.get(use) for use in uses]
        casts = [
            each
            for use, each in zip(uses, around, strict=True)
            if isinstance(each, ast.Call) and each.args[:1] == [use] and last_name(each.func) == "cast"
        ]
        return casts[0] if len(casts) == 1 else None
    return None


def compared(at: SourceSpan | None) -> Iterator[Fix]:
    """`cast(a > b)` gets the gradient of `sigmoid(a - b)`."""
    found = expression_at(at)
    if found is None:
        return
    module, node = found
    sides, hard = _sides(module, node), _enclosing_cast(module, node)
    if sides is None or hard is None:
        return
    soft = f"{Word.SIGMOID}({sides[0]} - {sides[1]})"
    yield _through(module, hard, soft, text_at(module, hard))
    yield Fix(title="use a soft step in place of the comparison", edits=(replaced(module, hard, soft),))


def _sides(module: Module, node: ast.AST) -> tuple[str, str] | None:
    """The larger side of a comparison, and the smaller, where it is true."""
    match node:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
            return operand_text(module, left), operand_text(module, right)
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
            return operand_text(module, right), operand_text(module, left)
        case ast.Call(func=function, args=[left, right]) if last_name(function) in ("greater", "greater_equal"):
            return operand_text(module, left), operand_text(module, right)
        case ast.Call(func=function, args=[left, right]) if last_name(function) in ("less", "less_equal"):
            return operand_text(module, right), operand_text(module, left)
    return None


def positions(at: SourceSpan | None) -> Iterator[Fix]:
    """`one_hot(argmax(x))` gets the gradient of the softmax; `cast(argmax(x))` becomes the mean position under it."""
    found = call_at(at)
    if found is None:
        return
    module, call = found
    hard = call if last_name(call.func) == "one_hot" else None
    index = call if last_name(call.func) in _INDEX else _index_in(module, call)
    if index is None or not index.args or last_name(index.func) == "argmin":
        return
    scores, axis = index.args[0], argument(index, 1, "axis")
    last_axis = axis is None or ast.unparse(axis) in ("-1", "1")
    hard = hard or _taken_by(module, index, "one_hot")
    if hard is not None and last_axis:
        soft = f"{Word.SOFTMAX}({text_at(module, scores)})"
        if isinstance(scores, ast.Call) and last_name(scores.func) == "softmax":
            soft = text_at(module, scores)
        yield _through(module, hard, soft, text_at(module, hard))
        return
    cast = _enclosing_cast(module, index)
    if cast is not None and last_axis:
        value = text_at(module, scores)
        numbers = f"{Word.RANGE}({Word.CAST}({Word.SHAPE}({value})[-1], {Word.FLOAT32}))"
        text = f"{Word.SUM}({Word.SOFTMAX}({value}) * {numbers}, axis=-1)"
        yield Fix(title="use the mean position under a softmax", edits=(replaced(module, cast, text),))


def _index_in(module: Module, call: ast.Call) -> ast.Call | None:
    """The search for a position that a call is given, on the spot or by a name."""
    value = call.args[0] if call.args else None
    if isinstance(value, ast.Name):
        scope = module.scope(call)
        made = [
            node.value
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign) and any(ast.unparse(t) == value.id for t in node.targets)
        ]
        value = made[0] if len(made) == 1 else None
    return value if isinstance(value, ast.Call) and last_name(value.func) in _INDEX else None


def _taken_by(module: Module, node: ast.expr, name: str) -> ast.Call | None:
    """The call of a function that takes the value of a node, on the spot or by a name."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and last_name(parent.func) == name:
        return parent
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        held = parent.targets[0].id
        for call in module.calls.get(name, ()):
            if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == held:
                return call
    return None


def unstopped(at: SourceSpan | None) -> Iterator[Fix]:
    """`stop_gradient(x)` becomes `x`."""
    found = call_at(at)
    if found is None or len(found[1].args) != 1 or found[1].keywords:
        return
    module, call = found
    if last_name(call.func) != "stop_gradient":
        return
    value = call.args[0]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub):  # the correction of a straight-through estimator
        return
    edit, statement = replaced(module, call, operand_text(module, value)), module.parents.get(call)
    match statement:
        case ast.Assign(targets=[only]) if ast.unparse(only) == ast.unparse(value) and has_own_lines(module, statement):
            edit = deleted_lines(module, statement.lineno, statement.end_lineno or statement.lineno)
    yield Fix(title=f"let the gradient pass to `{text_at(module, value)}`", edits=(edit,))


def lone_softmax(at: SourceSpan | None, axis: int | None = None) -> Iterator[Fix]:
    """A softmax over one unit, by name or by call, becomes a sigmoid, or is taken over the axis that has choices."""
    found = located(at)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or statement is None:
        return
    module = found[0]
    if axis is not None:
        if isinstance(found[1], ast.Call) and last_name(found[1].func) == "softmax":
            known = argument(found[1], 1, "axis")
            text = f"{axis}" if known else f"axis={axis}"
            edit = replaced(module, known, text) if known else with_argument(module, found[1], text)
            yield Fix(title=f"take the softmax over axis {axis}", edits=(edit,))
        return
    layers = [
        c
        for c in module.calls.get("Dense", ())
        if c.args and isinstance(c.args[0], ast.Constant) and c.args[0].value == 1
    ]
    for call in layers:
        name = argument(call, 1, "activation")
        if isinstance(name, ast.Constant) and name.value == "softmax":
            yield Fix(title="use a sigmoid for one unit", edits=(replaced(module, name, '"sigmoid"'),))
    node = found[1]
    if isinstance(node, ast.Call) and last_name(node.func) == "softmax" and node.args:
        text = f"{Word.SIGMOID}({text_at(module, node.args[0])})"
        yield Fix(title="use a sigmoid for one unit", edits=(replaced(module, node, text),))


def drawn(at: SourceSpan | None) -> Iterator[Fix]:
    """A bit that is drawn by comparing noise with a probability gets the gradient of the probability."""
    found = expression_at(at)
    if found is None:
        return
    module, node = found
    sides, hard = _sides(module, node), _enclosing_cast(module, node)
    if sides is not None and hard is not None and _is_noise(module, node, sides[1]):
        yield _through(module, hard, sides[0], text_at(module, hard))


def _is_noise(module: Module, at: ast.AST, text: str) -> bool:
    """Whether an expression, or what its name was last given, draws random numbers."""
    bound = [n for n in ast.walk(module.scope(at)) if isinstance(n, ast.Assign)]
    made = [ast.unparse(n.value) for n in bound if text in {ast.unparse(target) for target in n.targets}]
    return any(word in each for each in (text, *made[-1:]) for word in ("random", "uniform"))
