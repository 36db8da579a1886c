"""What a tape is told: to watch, to answer twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Fix, FixSafety
from whygrad.fixes.blocks import call_of_head
from whygrad.fixes.rewriting import (
    argument,
    call_at,
    deleted_lines,
    has_own_lines,
    indentation_inside,
    inserted_after,
    inserted_at,
    replaced,
    with_argument,
)
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


def watched_itself(told: SourceSpan | None, asked: SourceSpan | None, name: str) -> Iterator[Fix]:
    """What the tape was told to watch keeps a name of its own, by which its gradient is asked for."""
    watching, request = located(told), call_at(asked)
    source = None if request is None else argument(request[1], 1, "sources")
    statement = None if watching is None else watching[0].statement(watching[1])
    if watching is None or request is None or source is None or not isinstance(statement, ast.Expr):
        return
    names = [n for n in ast.walk(source) if isinstance(n, ast.Name) and n.id == name]
    if names and has_own_lines(watching[0], statement) and f"watched_{name}" not in watching[0].text:
        edits = [inserted_after(watching[0], statement, f"watched_{name} = {name}")]
        edits += [replaced(request[0], each, f"watched_{name}") for each in names]
        yield Fix(title=f"ask for the `{name}` that is watched", edits=tuple(edits))


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
