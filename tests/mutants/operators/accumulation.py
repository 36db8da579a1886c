"""Accumulated gradients: the reset or the division left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code, called
from .operator import Change, Harm, Operator

ZEROS = ("zeros_like", "zeros")


def not_reset(code: Code) -> Iterator[Change]:
    """An accumulator that is put to zero once, before the loop, or never."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Expr(value=ast.Call(args=[value]) as call) if called(call, "assign") and called(value, *ZEROS):
                if "assign_add(" in code.text:
                    yield Change(code.replaced((node, "pass")))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_zero(value) and code.stands_alone(node):
                loop = code.parents[node]
                if isinstance(loop, ast.For) and _is_summed_up(loop, name):
                    inserted = {loop.lineno: code.lines_of(node, code.indent(loop))}
                    yield Change(code.rewritten([node], inserted))


def _is_zero(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=0 | 0.0) | ast.List(elts=[]):
            return True
        case ast.ListComp(elt=inner):
            return _is_zero(inner)
    return called(value, *ZEROS)


def _is_summed_up(loop: ast.For, name: str) -> bool:
    """Whether a loop inside of this one gives the name a value that is made of its own."""
    for inner in ast.walk(loop):
        if isinstance(inner, ast.For) and inner is not loop:
            for each in ast.walk(inner):
                match each:
                    case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                        if any(isinstance(read, ast.Name) and read.id == name for read in ast.walk(value)):
                            return True
    return False


def not_divided(code: Code) -> Iterator[Change]:
    """Gradients that are added up in equal pieces, without the division by their number."""
    for node in ast.walk(code.tree):
        if called(node, "assign_add", "apply_gradients"):
            found = [each for each in ast.walk(node) if isinstance(each, ast.BinOp)]
        elif isinstance(node, ast.ListComp) and isinstance(node.elt, ast.BinOp):
            found = [each for each in ast.walk(node.elt) if isinstance(each, ast.BinOp) and each is not node.elt]
        else:
            continue
        if called(node, "apply_gradients") and not _adds_up(code):
            continue
        for each in found:
            match each:
                case (
                    ast.BinOp(left=kept, op=ast.Div())
                    | ast.BinOp(left=kept, op=ast.Mult(), right=ast.BinOp(op=ast.Div()))
                ):
                    yield Change(code.replaced((each, code.of(kept))))


def _adds_up(code: Code) -> bool:
    return "assign_add(" in code.text or any(
        isinstance(node, ast.ListComp) and isinstance(node.elt, ast.BinOp) and isinstance(node.elt.op, ast.Add)
        for node in ast.walk(code.tree)
    )


OPERATORS = [
    Operator("no_reset", ("accumulation-not-reset",), (Harm.OTHER_VALUES,), not_reset),
    Operator("no_division", ("accumulation-no-averaging",), (Harm.OTHER_VALUES,), not_divided),
]
