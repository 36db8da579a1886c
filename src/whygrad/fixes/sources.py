"""What a gradient is asked for: the variable, the very tensor that was used; and ops that have a gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes.losses import last_binding
from whygrad.fixes.rewriting import argument, on_call, operand_text, replaced, text_at
from whygrad.source.module import Module, last_name

_PIXELS: Final = "axis=[-3, -2], keepdims=True"  # the height and the width of pictures


@on_call
def right_source(module: Module, call: ast.Call) -> Iterator[Fix]:
    """The variable itself and not a piece or a copy of it; the tensor that was used and not one computed again."""
    source = argument(call, 1, "sources")
    if source is None:
        return
    if isinstance(source, ast.Subscript) and text_at(module, call).endswith(")"):
        end = module.stretch(call.end_lineno or 0, call.end_col_offset, call.end_lineno, call.end_col_offset)
        edits = (
            replaced(module, source, text_at(module, source.value)),
            Edit(end, f"[{text_at(module, source.slice)}]"),
        )
        yield Fix(title=f"ask for `{text_at(module, source.value)}`, and take the piece of its gradient", edits=edits)
    bound = last_binding(module, call, ast.unparse(source))
    if not isinstance(source, ast.Name) or not isinstance(bound, ast.Assign):
        return
    if isinstance(bound.value, ast.Call) and ast.unparse(bound.value).endswith(".get_weights()"):
        text = ast.unparse(bound.value).removesuffix("get_weights()") + "trainable_variables"
        yield Fix(title=f"ask for `{text}`", edits=(replaced(module, bound.value, text),))
    made, scope = ast.unparse(bound.value), module.scope(call)
    again = [n for n in ast.walk(scope) if isinstance(n, ast.expr) and n is not bound.value and ast.unparse(n) == made]
    if again and not isinstance(bound.value, (ast.Name, ast.Constant)):
        same = tuple(replaced(module, each, source.id) for each in again)
        yield Fix(title=f"compute the loss from `{source.id}`", edits=same, safety=FixSafety.SAFE)


@on_call
def with_gradient(module: Module, call: ast.Call) -> Iterator[Fix]:
    """An op that has no gradient, in arithmetic that has one, or in a kind of it that does."""
    if not call.args:
        return
    first, second = (text_at(module, call.args[0]), argument(call, 1, "contrast_factor", "saturation_factor", "size"))
    match last_name(call.func), second:
        case "adjust_contrast", ast.expr():
            mean = f"{Word.MEAN}({first}, {_PIXELS})"
            text = f"({operand_text(module, call.args[0])} - {mean}) * {operand_text(module, second)} + {mean}"
        case "adjust_saturation", ast.expr():
            grey = f"{Word.MEAN}({first}, axis=-1, keepdims=True)"
            text = f"{grey} + {operand_text(module, second)} * ({operand_text(module, call.args[0])} - {grey})"
        case "resize", ast.expr():
            smooth = ", antialias=True" if "area" in text_at(module, call).lower() else ""
            text = f'{text_at(module, call.func)}({first}, {text_at(module, second)}, method="bilinear"{smooth})'
        case "bincount", _ if (weights := argument(call, 1, "weights")) and (size := argument(call, 2, "minlength")):
            text = f"{Word.SEGMENT_SUM}({text_at(module, weights)}, {first}, {text_at(module, size)})"
        case _:
            return
    yield Fix(title="write it with ops that have a gradient", edits=(replaced(module, call, text),))
