"""Statements in and out of `with` blocks: a block that begins earlier or ends later, statements copied into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from whygrad.diagnostics import Fix, FixSafety
from whygrad.fixes import rewriting as rw
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located, plain_names

_NAMES = ("target", "differentiated", "target_of_gradient")


@rw.on_node
def into_block(
    module: Module, expression: ast.AST, entered: SourceSpan | None, asked: SourceSpan | None
) -> Iterator[Fix]:
    """What computes an expression runs inside the `with` block at `entered`; `asked` is where its result is used."""
    there, request = located(entered), located(asked)
    block = None if there is None or there[0] is not module else _block(*there)
    outside = None if block is None else _outside_of(module, expression, block)
    if block is None or outside is None:
        return
    asking = None if request is None else request[0].statement(request[1])
    if asking is outside and request is not None:
        yield from _hoisted(module, block, request[1])
    else:
        yield from _enclosed(module, block, outside, asking)


def _block(module: Module, node: ast.AST) -> ast.With | None:
    """The `with` statement whose head a node is in, if its body has lines of its own."""
    block = _with_around(module, node)
    if block is None or block.body[0].lineno <= _head_end(block) or not rw.starts_line(module, block):
        return None
    return block


def _with_around(module: Module, node: ast.AST) -> ast.With | None:
    return node if isinstance(node, ast.With) else module.around(node, ast.With)


def _head_end(block: ast.With) -> int:
    ends = [item.optional_vars or item.context_expr for item in block.items]
    return max(end.end_lineno or end.lineno for end in ends)


def _outside_of(module: Module, node: ast.AST, block: ast.With) -> ast.stmt | None:
    """The statement that computes a node and can be seen from a block: its own, or one that calls its function."""
    if block in module.ancestors(node):
        return None
    scopes = [module.scope(block), *(each for each in module.ancestors(block) if each is module.tree)]
    statement = module.statement(node)
    for _ in range(4):  # calls that are followed outwards
        function = None if statement is None else module.scope(statement)
        if statement is None or function in scopes:
            return statement
        statement = _caller(module, function, block)
    return None


def _caller(module: Module, function: ast.AST | None, block: ast.With) -> ast.stmt | None:
    """The last statement outside of a block that calls a function, in the scopes that the block can see."""
    calls = module.calls.get(getattr(function, "name", ""), [])
    outside = [call for call in calls if block not in module.ancestors(call)]
    before = [call for call in outside if call.lineno < block.lineno] or outside
    return module.statement(before[-1]) if before else None


def _enclosed(module: Module, block: ast.With, outside: ast.stmt, asking: ast.stmt | None) -> Iterator[Fix]:
    for around in (block, *(each for each in module.ancestors(block) if isinstance(each, ast.stmt))):
        siblings = _siblings(module, around)
        mine = next((each for each in (outside, *module.ancestors(outside)) if each in siblings), None)
        if mine is None or mine is around:
            continue
        here, there = siblings.index(mine), siblings.index(around)
        if around is block and here > there:
            yield from _longer(module, block, siblings[there + 1 :], outside, asking)
        elif around is block:
            yield from _earlier(module, block, siblings[here:there])
        elif here < there:
            yield from _copied(module, block, siblings[here:there])
        return


def _siblings(module: Module, statement: ast.AST) -> list[ast.stmt]:
    parent = module.parents.get(statement)
    for name in ("body", "orelse", "finalbody"):
        found = getattr(parent, name, None)
        if isinstance(found, list) and statement in found:
            return found
    return []


def _longer(
    module: Module, block: ast.With, after: Sequence[ast.stmt], outside: ast.stmt, asking: ast.stmt | None
) -> Iterator[Fix]:
    """The statements after a block, up to the one that asks, belong to it."""
    asks = [asking is not None and asking in ast.walk(each) for each in after]
    end = asks.index(True) if any(asks) else None
    taken = list(after[:end]) if end else [each for each in after if each.lineno <= outside.lineno]
    if not taken or not all(rw.has_own_lines(module, each) for each in taken):
        return
    first, last = (block.end_lineno or block.lineno) + 1, taken[-1].end_lineno or taken[-1].lineno
    edits = tuple(rw.shifted(module, first, last, rw.indent_of(module, block), rw.indentation_inside(module, block)))
    yield Fix(title=f"move {_shown(module, taken)} into the `with` block", edits=edits, safety=FixSafety.SAFE)


def _earlier(module: Module, block: ast.With, before: Sequence[ast.stmt]) -> Iterator[Fix]:
    """The block begins before these statements."""
    head = module.lines[block.lineno - 1 : _head_end(block)]
    if not head[-1].split("#")[0].rstrip().endswith(":") or not all(rw.has_own_lines(module, each) for each in before):
        return
    if any(isinstance(each, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)) for each in before):
        yield from _copied(module, block, before)
        return
    outer, inner = rw.indent_of(module, block), rw.indentation_inside(module, block)
    edits = (
        rw.inserted_at(module, before[0].lineno, "\n".join(head)),
        *rw.shifted(module, before[0].lineno, block.lineno - 1, outer, inner),
        rw.deleted_lines(module, block.lineno, _head_end(block)),
    )
    yield Fix(title=f"move {_shown(module, before)} into the `with` block", edits=edits, safety=FixSafety.SAFE)


def _copied(module: Module, block: ast.With, before: Sequence[ast.stmt]) -> Iterator[Fix]:
    """The first of some statements, and those that take what it makes, are run in the block."""
    taken, names = list[ast.stmt](), set[str]()
    for statement in before:
        simple = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        if not taken or (simple and names & plain_names(statement, ast.Load)):
            taken.append(statement)
            names |= plain_names(statement, ast.Store)
    if not all(isinstance(each, (ast.Assign, ast.AnnAssign)) and rw.has_own_lines(module, each) for each in taken):
        return
    text = rw.moved_lines(module, taken, rw.indentation_inside(module, block))
    edits = [rw.inserted_at(module, block.body[0].lineno, text)]
    used_elsewhere = any(
        isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        for node in ast.walk(module.tree)
        if block not in module.ancestors(node) and not any(each in module.ancestors(node) for each in taken)
    )
    if not used_elsewhere:
        edits += [rw.deleted(module, each) for each in taken]
    yield Fix(title=f"compute {_shown(module, taken)} inside the `with` block", edits=tuple(edits))


def _shown(module: Module, statements: Sequence[ast.stmt]) -> str:
    more = f" and {len(statements) - 1} more" if len(statements) > 1 else ""
    return f"`{rw.short_text(module, statements[0])}`{more}"


def _hoisted(module: Module, block: ast.With, request: ast.AST) -> Iterator[Fix]:
    """The expression in the call itself is computed at the end of the block."""
    if not isinstance(request, ast.Call) or not request.args or not rw.has_own_lines(module, block.body[-1]):
        return
    used = plain_names(module.tree)
    name = next((each for each in _NAMES if each not in used), None)
    target = request.args[0]
    if name is None:
        return
    line = (block.end_lineno or block.lineno) + 1
    value = rw.text_at(module, target)
    text = f"({value})" if "\n" in value else value
    edits = (
        rw.inserted_at(module, line, f"{rw.indentation_inside(module, block)}{name} = {text}"),
        rw.replaced(module, target, name),
    )
    yield Fix(
        title=f"compute `{rw.text_at(module, target)}` inside the `with` block", edits=edits, safety=FixSafety.SAFE
    )


@rw.on_node
def without_block(module: Module, at: ast.AST) -> Iterator[Fix]:
    """The statements of a `with` block stand where the block stood."""
    block = _block(module, at)
    if block is None or len(block.items) > 1:
        return
    first, last = _head_end(block) + 1, block.end_lineno or block.lineno
    inside = rw.shifted(module, first, last, rw.indentation_inside(module, block), rw.indent_of(module, block))
    head = rw.on_one_line(module, block.items[0].context_expr)
    yield Fix(title=f"leave out `with {head}`", edits=(rw.deleted_lines(module, block.lineno, first - 1), *inside))


@rw.on_statement
def without_statement(module: Module, statement: ast.stmt) -> Iterator[Fix]:
    """A statement that is a call, and nothing else, is left out."""
    if isinstance(statement, ast.Expr) and rw.has_own_lines(module, statement):
        alone = len(_siblings(module, statement)) == 1
        edit = rw.replaced(module, statement, "pass") if alone else rw.deleted(module, statement)
        yield Fix(title=f"leave out `{rw.on_one_line(module, statement)}`", edits=(edit,))


def call_of_head(at: SourceSpan | None) -> tuple[Module, ast.Call, ast.With] | None:
    """The call in the head of a `with` block, such as what makes a tape."""
    found = located(at)
    if found is None:
        return None
    module, node = found
    block = _with_around(module, node)
    if block is None:
        return None
    calls = [item.context_expr for item in block.items if isinstance(item.context_expr, ast.Call)]
    inside = [call for call in calls if call is node or node in ast.walk(call)]
    call = (inside or calls)[:1]
    return (module, call[0], block) if call and last_name(call[0].func) else None
