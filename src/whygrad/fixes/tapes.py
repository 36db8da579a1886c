"""What a tape is told: to watch, to answer twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Fix, FixSafety
from whygrad.fixes.blocks import call_of_head
from whygrad.fixes.rewriting import deleted_lines, has_own_lines, indentation_inside, inserted_at, with_argument
from whygrad.source import SourceSpan
from whygrad.source.module import Module, located


def persistent(entered: SourceSpan | None) -> Iterator[Fix]:
    """The tape may be asked more than once."""
    found = call_of_head(entered)
    if found is None or any(keyword.arg == "persistent" for keyword in found[1].keywords):
        return
    module, call, _ = found
    edit = with_argument(module, call, "persistent=True")
    yield Fix(title="make the tape persistent", edits=(edit,), safety=FixSafety.SAFE)


def watched(entered: SourceSpan | None, name: str, told: SourceSpan | None = None) -> Iterator[Fix]:
    """The tape is told to watch something before its first use; `told`: where it is told so now, too late."""
    found = call_of_head(entered)
    if found is None or not _is_simple(name):
        return
    module, call, block = found
    tape = next(
        (
            item.optional_vars.id
            for item in block.items
            if item.context_expr is call and isinstance(item.optional_vars, ast.Name)
        ),
        None,
    )
    if tape is None or block.body[0].lineno == block.lineno:
        return
    line = _line_after_binding(module, block, name)
    edits = [inserted_at(module, line, f"{indentation_inside(module, block)}{tape}.watch({name})")]
    late = located(told)
    statement = None if late is None else late[0].statement(late[1])
    if late is not None and isinstance(statement, ast.Expr) and has_own_lines(late[0], statement):
        edits.append(deleted_lines(module, statement.lineno, statement.end_lineno or statement.lineno))
    yield Fix(title=f"watch `{name}`", edits=tuple(edits), safety=FixSafety.SAFE)


def _is_simple(name: str) -> bool:
    try:
        node = ast.parse(name, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, (ast.Name, ast.Attribute))


def _line_after_binding(module: Module, block: ast.With, name: str) -> int:
    """The first line of a block; where the name is bound in the block, the line after that."""
    for statement in block.body:
        names = {ast.unparse(n) for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store)}
        if name in names:
            return (statement.end_lineno or statement.lineno) + 1
    return block.body[0].lineno
