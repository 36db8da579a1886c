"""Python numbers that a traced step depends on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import INDENT, Code, last_line, tape_name
from .operator import Change, Harm, Operator


def counted_inside(code: Code) -> Iterator[Change]:
    """A loss that fades with a number of Python's, which the step itself counts up."""
    yield from _faded(code, counts_inside=True)


def counted_outside(code: Code) -> Iterator[Change]:
    """The same, with a number that the loop around the step counts up."""
    yield from _faded(code, counts_inside=False)


def _faded(code: Code, counts_inside: bool) -> Iterator[Change]:
    for function in code.tree.body:
        if (
            not isinstance(function, ast.FunctionDef)
            or not function.decorator_list
            or not code.stands_alone(function.body[0])
        ):
            continue
        loop = _loop_that_calls(code, function.name)
        if not counts_inside and loop is None:
            continue
        for block in ast.walk(function):
            if not isinstance(block, ast.With) or not tape_name(block):
                continue
            last = block.body[-1]
            match last:
                case ast.Assign(targets=[ast.Name(id=name)]) if code.stands_alone(last):
                    yield _with_number(code, function, last, name, None if counts_inside else loop)


def _with_number(code: Code, function: ast.FunctionDef, last: ast.stmt, name: str, loop: ast.For | None) -> Change:
    """`seen` before the function, the loss divided by it, and `seen += 1` in the loop, else in the function."""
    top = function.decorator_list[0].lineno
    divided = f"{code.indent(last)}{name} = {name} / seen\n"
    first = function.body[0]
    inserted: dict[int, list[str]] = {top: ["seen = 1\n"], last_line(last) + 1: [divided]}
    if loop is not None:
        inserted[loop.body[0].lineno] = [f"{code.indent(loop)}{INDENT}seen += 1\n"]
        line = last_line(last) + 2
        return Change(code.rewritten([], inserted), line, line)
    inserted[first.lineno] = [f"{INDENT}global seen\n", f"{INDENT}seen += 1\n"]
    return Change(code.rewritten([], inserted), first.lineno + 1, last_line(last) + 4)


def _loop_that_calls(code: Code, name: str) -> ast.For | None:
    """The innermost loop at the top of the program that calls a function of this name."""
    found = None
    for node in ast.walk(code.tree):
        if isinstance(node, ast.For) and code.function_of(node) is None and _is_on_its_own_lines(code, node):
            calls = any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
            found = node if calls else found
    return found


def _is_on_its_own_lines(code: Code, loop: ast.For) -> bool:
    return code.stands_alone(loop) and loop.body[0].lineno > last_line(loop.iter)


OPERATORS = [
    Operator("python_number", ("python-state-in-graph",), (Harm.BAKED,), counted_inside),
    Operator("python_number_outside", ("python-state-in-graph",), (Harm.BAKED,), counted_outside),
]
