"""What a tape sees: a forward pass before it, a `watch` that is missing or too late."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code, called, last_line, tape_name
from .operator import Change, Harm, Operator

LOST = (Harm.NONE, Harm.ZERO)


def hoisted(code: Code) -> Iterator[Change]:
    """The first statements of a tape's block, one or more of them, put in front of it."""
    for block in ast.walk(code.tree):
        if not isinstance(block, ast.With) or not tape_name(block) or block.body[0].lineno != block.lineno + 1:
            continue
        for count, statement in enumerate(block.body[:-1], 1):
            if not isinstance(statement, ast.Assign) or not code.stands_alone(statement):
                break
            moved = [row for each in block.body[:count] for row in code.lines_of(each, code.indent(block))]
            text = code.rewritten(block.body[:count], {block.lineno: moved})
            yield Change(text, block.lineno, block.lineno + len(moved) - 1)


def watches(code: Code) -> Iterator[ast.Expr]:
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Expr) and called(node.value, "watch") and code.stands_alone(node):
            yield node


def unwatched(code: Code) -> Iterator[Change]:
    for statement in watches(code):
        yield Change(code.replaced((statement, "pass")))


def watched_late(code: Code) -> Iterator[Change]:
    """A `watch` at the end of its block, after the forward pass."""
    for statement in watches(code):
        block = code.parents[statement]
        if isinstance(block, ast.With) and block.body[-1] is not statement:
            moved = code.lines_of(statement, code.indent(statement))
            yield Change(code.rewritten([statement], {last_line(block) + 1: moved}))


OPERATORS = [
    Operator("hoist", ("outside-tape", "variable-not-in-loss"), LOST, hoisted),
    Operator("unwatch", ("unwatched-source",), LOST, unwatched),
    Operator("late_watch", ("unwatched-source",), LOST, watched_late),
]
