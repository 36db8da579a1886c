"""A hard value whose gradient goes straight through: the values stay, the gradient is that of a soft twin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Word
from whygrad.fixes import rewriting as rw
from whygrad.source.module import Module, last_name, loads

_INDEX: Final = ("argmax", "argmin")
_CASTS: Final = ("cast", "astype", "saturate_cast", "convert_image_dtype")


@rw.on_call
def rounded(module: Module, call: ast.Call) -> Iterator[Fix]:
    """`round(x)` becomes `x + stop_gradient(round(x) - x)`; and else `x` itself."""
    if call.args and not isinstance(call.args[0], ast.Starred):
        value, soft = call.args[0], rw.operand_text(module, call.args[0])
        yield _through(module, call, soft)
        yield Fix(title=f"keep `{rw.text_at(module, value)}` as it is", edits=(rw.replaced(module, call, soft),))


@rw.on_call
def uncast(module: Module, call: ast.Call) -> Iterator[Fix]:
    """A cast to a type without a gradient: the way there and back is passed straight through, or left out."""
    if last_name(call.func) not in _CASTS:
        return
    value = getattr(call.func, "value", None) if last_name(call.func) == "astype" else call.args[0]
    if not isinstance(value, ast.expr):
        return
    back = _enclosing_cast(module, call)
    soft = rw.operand_text(module, value)
    if back is not None:
        yield _through(module, back, soft)
    yield Fix(title=f"keep `{rw.text_at(module, value)}` in floating point", edits=(rw.replaced(module, call, soft),))


def _through(module: Module, node: ast.expr, soft: str) -> Fix:
    text = f"{soft} + {Word.STOP_GRADIENT}({rw.text_at(module, node)} - {soft})"
    return Fix(
        title="keep the value and pass the gradient straight through",
        edits=(rw.replaced(module, node, rw.in_parentheses(module, node, text)),),
    )


def _enclosing_cast(module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes numbers of a truth value or a whole number, here or where its name is used."""
    cast, choice = _call_around(module, node, "cast"), _call_around(module, node, "where")
    if cast is not None:
        return cast
    if choice is not None:
        return choice if len(choice.args) == 3 and all(isinstance(a, ast.Constant) for a in choice.args[1:]) else None
    match module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            uses = loads(module.scope(node), name)
            casts = [call for use in uses if (call := _call_around(module, use, "cast")) is not None]
            return casts[0] if len(casts) == 1 else None
    return None


def _call_around(module: Module, node: ast.expr, name: str) -> ast.Call | None:
    """The call of a function whose first argument a node is."""
    parent = module.parents.get(node)
    taken = isinstance(parent, ast.Call) and parent.args[:1] == [node] and last_name(parent.func) == name
    return parent if taken and isinstance(parent, ast.Call) else None


@rw.on_expression
def compared(module: Module, node: ast.expr) -> Iterator[Fix]:
    """`cast(a > b)` gets the gradient of `sigmoid(a - b)`."""
    sides, hard = _sides(module, node), _enclosing_cast(module, node)
    if sides is None or hard is None:
        return
    soft = f"{Word.SIGMOID}({sides[0]} - {sides[1]})"
    yield _through(module, hard, soft)
    yield Fix(title="use a soft step in place of the comparison", edits=(rw.replaced(module, hard, soft),))


def _sides(module: Module, node: ast.AST) -> tuple[str, str] | None:
    """The larger side of a comparison, and the smaller, where it is true."""
    match node:
        case ast.Compare(left=large, ops=[ast.Gt() | ast.GtE()], comparators=[small]):
            pass
        case ast.Compare(left=small, ops=[ast.Lt() | ast.LtE()], comparators=[large]):
            pass
        case ast.Call(func=function, args=[large, small]) if last_name(function) in ("greater", "greater_equal"):
            pass
        case ast.Call(func=function, args=[small, large]) if last_name(function) in ("less", "less_equal"):
            pass
        case _:
            return None
    return rw.operand_text(module, large), rw.operand_text(module, small)


@rw.on_call
def positions(module: Module, call: ast.Call) -> Iterator[Fix]:
    """`one_hot(argmax(x))` gets the gradient of the softmax; `cast(argmax(x))` becomes the mean position under it."""
    hard = call if last_name(call.func) == "one_hot" else None
    index = call if last_name(call.func) in _INDEX else _index_in(module, call)
    if index is None or not index.args or last_name(index.func) == "argmin":
        return
    scores, axis = index.args[0], rw.argument(index, 1, "axis")
    last_axis = axis is None or ast.unparse(axis) in ("-1", "1")
    hard = hard or _taken_by(module, index, "one_hot")
    if hard is not None and last_axis:
        soft = f"{Word.SOFTMAX}({rw.text_at(module, scores)})"
        if isinstance(scores, ast.Call) and last_name(scores.func) == "softmax":
            soft = rw.text_at(module, scores)
        yield _through(module, hard, soft)
        return
    cast = _enclosing_cast(module, index)
    if cast is not None and last_axis:
        value = rw.text_at(module, scores)
        numbers = f"{Word.RANGE}({Word.CAST}({Word.SHAPE}({value})[-1], {Word.FLOAT32}))"
        text = f"{Word.SUM}({Word.SOFTMAX}({value}) * {numbers}, axis=-1)"
        yield Fix(title="use the mean position under a softmax", edits=(rw.replaced(module, cast, text),))


def _index_in(module: Module, call: ast.Call) -> ast.Call | None:
    """The search for a position that a call is given, on the spot or by a name."""
    value = call.args[0] if call.args else None
    if isinstance(value, ast.Name):
        made = rw.values_given(module, value.id, call)
        value = made[0] if len(made) == 1 else None
    return value if isinstance(value, ast.Call) and last_name(value.func) in _INDEX else None


def _taken_by(module: Module, node: ast.expr, name: str) -> ast.Call | None:
    """The call of a function that takes the value of a node, on the spot or by a name."""
    match module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=held), *_]):
            for call in module.calls.get(name, ()):
                if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == held:
                    return call
    return _call_around(module, node, name)


@rw.on_call
def unstopped(module: Module, call: ast.Call) -> Iterator[Fix]:
    """`stop_gradient(x)` becomes `x`."""
    if len(call.args) != 1 or call.keywords or last_name(call.func) != "stop_gradient":
        return
    value = call.args[0]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub):  # the correction of a straight-through estimator
        return
    edit, statement = rw.replaced(module, call, rw.operand_text(module, value)), module.parents.get(call)
    match statement:
        case ast.Assign(targets=[only]) if ast.unparse(only) == ast.unparse(value) and rw.has_own_lines(
            module, statement
        ):
            edit = rw.deleted(module, statement)
    yield Fix(title=f"let the gradient pass to `{rw.text_at(module, value)}`", edits=(edit,))


@rw.on_node
def lone_softmax(module: Module, node: ast.AST, axis: int | None = None) -> Iterator[Fix]:
    """A softmax over one unit, by name or by call, becomes a sigmoid, or is taken over the axis that has choices."""
    if axis is not None:
        if isinstance(node, ast.Call) and last_name(node.func) == "softmax":
            edit = rw.with_option(module, node, "axis", f"{axis}", position=1)
            yield Fix(title=f"take the softmax over axis {axis}", edits=(edit,))
        return
    for call in module.calls.get("Dense", ()):
        match call.args[:1], rw.argument(call, 1, "activation"):
            case [ast.Constant(value=1)], ast.Constant(value="softmax") as name:
                yield Fix(title="use a sigmoid for one unit", edits=(rw.replaced(module, name, '"sigmoid"'),))
    if isinstance(node, ast.Call) and last_name(node.func) == "softmax" and node.args:
        text = f"{Word.SIGMOID}({rw.text_at(module, node.args[0])})"
        yield Fix(title="use a sigmoid for one unit", edits=(rw.replaced(module, node, text),))


@rw.on_expression
def drawn(module: Module, node: ast.expr) -> Iterator[Fix]:
    """A bit that is drawn by comparing noise with a probability gets the gradient of the probability."""
    sides, hard = _sides(module, node), _enclosing_cast(module, node)
    if sides is not None and hard is not None and _is_noise(module, node, sides[1]):
        yield _through(module, hard, sides[0])


def _is_noise(module: Module, at: ast.AST, text: str) -> bool:
    """Whether an expression, or what its name was last given, draws random numbers."""
    made = map(ast.unparse, rw.values_given(module, text, at)[-1:])
    return any(word in each for each in (text, *made) for word in ("random", "uniform"))
