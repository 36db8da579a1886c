"""What a tape is told: to watch, to answer twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Fix, FixSafety
from whygrad.fixes import rewriting as rw
from whygrad.fixes.blocks import call_of_head
from whygrad.source import SourceSpan
from whygrad.source.module import Module


def persistent(entered: SourceSpan | None) -> Iterator[Fix]:
    """The tape may be asked more than once."""
    found = call_of_head(entered)
    if found is None or any(keyword.arg == "persistent" for keyword in found[1].keywords):
        return
    module, call, _ = found
    edit = rw.with_argument(module, call, "persistent=True")
    yield Fix(title="make the tape persistent", edits=(edit,), safety=FixSafety.SAFE)


def watched(entered: SourceSpan | None, name: str, told: SourceSpan | None = None) -> Iterator[Fix]:
    """The tape is told to watch something before its first use; `told`: where it is told so now, too late."""
    found = call_of_head(entered)
    if found is None or not _is_simple(name):
        return
    module, call, block = found
    tape = next(item.optional_vars for item in block.items if item.context_expr is call)
    if not isinstance(tape, ast.Name) or block.body[0].lineno == block.lineno:
        return
    line = _line_after_binding(block, name)
    edits = [rw.inserted_at(module, line, f"{rw.indentation_inside(module, block)}{tape.id}.watch({name})")]
    late = rw.statement_at(told)
    if late is not None and isinstance(late[1], ast.Expr) and rw.has_own_lines(*late):
        edits.append(rw.deleted(module, late[1]))
    yield Fix(title=f"watch `{name}`", edits=tuple(edits), safety=FixSafety.SAFE)


@rw.on_statement
def watched_itself(module: Module, told: ast.stmt, asked: SourceSpan | None, name: str) -> Iterator[Fix]:
    """What the tape was told to watch keeps a name of its own, by which its gradient is asked for."""
    request = rw.call_at(asked)
    source = None if request is None else rw.argument(request[1], 1, "sources")
    if request is None or source is None or not isinstance(told, ast.Expr):
        return
    names = [n for n in ast.walk(source) if isinstance(n, ast.Name) and n.id == name]
    if names and rw.has_own_lines(module, told) and f"watched_{name}" not in module.text:
        edits = [rw.inserted_after(module, told, f"watched_{name} = {name}")]
        edits += [rw.replaced(request[0], each, f"watched_{name}") for each in names]
        yield Fix(title=f"ask for the `{name}` that is watched", edits=tuple(edits))


def _is_simple(name: str) -> bool:
    try:
        node = ast.parse(name, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(node, (ast.Name, ast.Attribute))


def _line_after_binding(block: ast.With, name: str) -> int:
    """The first line of a block; where the name is bound in the block, the line after that."""
    for statement in block.body:
        names = {ast.unparse(n) for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store)}
        if name in names:
            return (statement.end_lineno or statement.lineno) + 1
    return block.body[0].lineno
