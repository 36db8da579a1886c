"""A small penalty over all variables, added to the loss of a program, so that every variable has some gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .code import Code, called, last_line, tape_name
from .operators import Change

TERM = "{0} = {0} + 1e-4 * tf.add_n([tf.reduce_sum(tf.cast(v * v, {0}.dtype)) for v in tf.nest.flatten({1})])\n"
REGULARISED = ("Dense", "Conv1D", "Conv2D", "EinsumDense")


def with_penalty(change: Change) -> Change | None:
    """The mutant with a penalty in its loss; None where there is no place for one.

    A loop of one's own has it on a line after the loss, inside the tape. A program that leaves the loss to Keras has
    it in its layers, as regularisers.
    """
    code = Code(change.text)
    rows = dict(_rows(code))
    if rows:
        moved = [sum(line <= place for line in rows) for place in (change.first, change.last)]
        first, last = (
            place + more if place else 0 for place, more in zip((change.first, change.last), moved, strict=True)
        )
        return Change(code.rewritten([], {line: [row] for line, row in rows.items()}), first, last)
    text = _regularised(code)
    return None if text is None else Change(text, change.first, change.last)


def _rows(code: Code) -> Iterator[tuple[int, str]]:
    """The line before which a penalty belongs, and its text, for each request of variables by name of the loss."""
    for block in ast.walk(code.tree):
        tape = tape_name(block)
        if not tape or not isinstance(block, ast.With):
            continue
        within = {each.id for each in ast.walk(block) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        for request in ast.walk(code.function_of(block) or code.tree):
            match request:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=asked)), args=[ast.Name(id=loss), sources, *_]) if (
                    called(request, "gradient")
                    and asked == tape
                    and loss in within
                    and request.lineno > last_line(block)
                ):
                    if not _is_watched(code, tape, sources):
                        yield last_line(block) + 1, code.indent(block.body[0]) + TERM.format(loss, code.of(sources))


def _is_watched(code: Code, tape: str, sources: ast.expr) -> bool:
    return f"{tape}.watch(" in code.text or isinstance(sources, ast.Constant)


def _regularised(code: Code) -> str | None:
    if "GradientTape" in code.text or ".fit(" not in code.text:
        return None
    found = [
        node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Call) and called(node, *REGULARISED) and "regularizer" not in code.of(node)
    ]
    if not found or any(inner is not node and inner in found for node in found for inner in ast.walk(node)):
        return None
    return code.replaced(
        *(
            (node, code.of(node)[:-1].rstrip(", \n") + ', kernel_regularizer="l2", bias_regularizer="l2")')
            for node in found
        )
    )
