"""Healthy programs made of a healthy program: the same step traced, not traced, or called from elsewhere.

A variant counts only where the oracle sees it end well, with no gradient missing that was there before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from .code import INDENT, MAIN, Code, tape_name

AS_IS = "as_is"


def traced(code: Code) -> str | None:
    """Every function with a tape of its own as a `tf.function`."""
    found = [
        node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and node.name not in ("train_step", "call", "__call__")
        and any(tape_name(each) and code.function_of(each) is node for each in ast.walk(node))
    ]
    return (
        code.rewritten([], {node.lineno: [f"{code.indent(node)}@tf.function\n"] for node in found}) if found else None
    )


def untraced(code: Code) -> str | None:
    """Every `tf.function` as a plain function."""
    found = [
        each
        for node in ast.walk(code.tree)
        if isinstance(node, ast.FunctionDef)
        for each in node.decorator_list
        if code.of(each).startswith("tf.function")
    ]
    gone = {each.lineno for each in found}
    return "".join(row for line, row in enumerate(code.rows, 1) if line not in gone) if found else None


def called(code: Code) -> str | None:
    """All but the imports inside of a function, which is called at the end."""
    first = next((each for each in code.tree.body if not isinstance(each, ast.Import | ast.ImportFrom)), None)
    if (
        first is None
        or isinstance(getattr(first, "value", None), ast.Constant)
        or '"""' in code.text
        or any(_is_global(each) for each in ast.walk(code.tree))
    ):
        return None
    start = min(first.lineno, *(each.lineno for each in getattr(first, "decorator_list", [])), first.lineno) - 1
    body = [INDENT + row if row.strip() else row for row in code.rows[start:]]
    return "".join([*code.rows[:start], f"def {MAIN}():\n", *body, "\n", "\n", f"{MAIN}()\n"])


def _is_global(node: ast.AST) -> bool:
    return isinstance(node, ast.Global) or (isinstance(node, ast.Call) and code_name(node) in ("globals", "locals"))


def code_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


VARIANTS: dict[str, Callable[[Code], str | None]] = {
    AS_IS: lambda code: code.text,
    "traced": traced,
    "untraced": untraced,
    "called": called,
}
