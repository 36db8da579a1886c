"""Whether the training step knows that the model is called with `training=False`, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from whygrad.source.module import located
from whygrad.source.text import SourceSpan


def unknowing_step(call: SourceSpan, callers: Sequence[SourceSpan], *, used_elsewhere: bool) -> SourceSpan | None:
    """The expression of the training step that reaches the call through a function that decides on the flag.

    None where the step says the flag itself, or where the function serves nothing but training.
    """
    if _under_tape(call) or not (used_elsewhere or _flag_is_default(call)):
        return None
    step = next((each for each in callers if _under_tape(each)), None)
    return None if step is None or _mentions_flag(step) else step


def _under_tape(span: SourceSpan) -> bool:
    found = located(span)
    node: ast.AST | None = None if found is None else found[1]
    while found is not None and node is not None and not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        if isinstance(node, ast.With) and any("GradientTape" in ast.unparse(item.context_expr) for item in node.items):
            return True
        node = found[0].parents.get(node)
    return False


def _mentions_flag(span: SourceSpan) -> bool:
    found = located(span)
    return found is None or any(_is_flag(each) for each in ast.walk(found[1]))


def _is_flag(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg is not None and "train" in node.arg
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _flag_is_default(span: SourceSpan) -> bool:
    """`model(x, training=training)` in a function whose `training` is `False` unless it is told otherwise."""
    found = located(span)
    call = None if found is None else found[1]
    if found is None or not isinstance(call, ast.Call):
        return False
    flag = next((word.value for word in call.keywords if word.arg == "training"), None)
    function = found[0].scope(call)
    if not isinstance(flag, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    names = [*function.args.posonlyargs, *function.args.args]
    given = dict(zip([arg.arg for arg in reversed(names)], reversed(function.args.defaults), strict=False))
    given |= {
        a.arg: d for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d is not None
    }
    default = given.get(flag.id)
    return isinstance(default, ast.Constant) and default.value is False
