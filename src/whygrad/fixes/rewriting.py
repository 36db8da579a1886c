"""The smallest rewrites: replace an expression, insert a line, indent lines, add an argument to a call."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from whygrad.diagnostics import Edit
from whygrad.source import SourceSpan
from whygrad.source.module import Module, located

N = TypeVar("N")
P = ParamSpec("P")
T = TypeVar("T")
OnNode = Callable[Concatenate[Module, N, P], Iterator[T]]
OnSpan = Callable[Concatenate[SourceSpan | None, P], Iterator[T]]

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set, ast.ListComp)
INDENT = "    "


def text_at(module: Module, node: ast.expr | ast.stmt) -> str:
    """The very text of a node, over several lines if it is."""
    lines = module.lines[node.lineno - 1 : node.end_lineno]
    if not lines:
        return ""
    if len(lines) == 1:
        return lines[0][node.col_offset : node.end_col_offset]
    return "\n".join((lines[0][node.col_offset :], *lines[1:-1], lines[-1][: node.end_col_offset]))


def on_one_line(module: Module, node: ast.expr | ast.stmt) -> str:
    return " ".join(text_at(module, node).split())


def short_text(module: Module, node: ast.expr | ast.stmt) -> str:
    """On one line, and the beginning only of what is long."""
    text = on_one_line(module, node)
    return text if len(text) <= 50 else f"{text[:47]}..."


def operand_text(module: Module, node: ast.expr) -> str:
    """The text of an expression as it may stand beside an operator or before a dot."""
    text = text_at(module, node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def replaced(module: Module, node: ast.expr | ast.stmt, text: str) -> Edit:
    return Edit(module.span(node), text)


def wrapped(module: Module, node: ast.expr, before: str, after: str) -> tuple[Edit, Edit]:
    """Text before and after an expression, which itself may be edited too."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (
        Edit(module.stretch(node.lineno, node.col_offset, node.lineno, node.col_offset), before),
        Edit(module.stretch(end_line, end_column, end_line, end_column), after),
    )


def in_parentheses(module: Module, node: ast.expr, text: str) -> str:
    """A sum or difference in place of an expression: in parentheses unless it stands alone."""
    parent = module.parents.get(node)
    alone = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr, ast.keyword, ast.Tuple, ast.List))
    argument = isinstance(parent, ast.Call) and node in parent.args
    return text if (alone or argument) and "\n" not in text else f"({text})"


def indent_of(module: Module, statement: ast.stmt) -> str:
    """The blanks before a statement; empty where something else stands before it on its line."""
    return _before(module, statement) if starts_line(module, statement) else ""


def starts_line(module: Module, statement: ast.stmt) -> bool:
    return not _before(module, statement).strip()


def _before(module: Module, statement: ast.stmt) -> str:
    return module.lines[statement.lineno - 1][: statement.col_offset]


def has_own_lines(module: Module, statement: ast.stmt) -> bool:
    """Whether nothing but a comment stands beside a statement on its lines."""
    lines = module.lines
    after = lines[(statement.end_lineno or statement.lineno) - 1][statement.end_col_offset :].strip()
    return starts_line(module, statement) and (not after or after.startswith("#"))


def inserted_at(module: Module, line: int, text: str) -> Edit:
    """Whole lines before a line; the line after the last one is the end."""
    last = line - 1
    if module.is_behind(line) and last and module.lines[last - 1]:
        end = len(module.lines[last - 1])  # the last line may lack its end
        return Edit(module.stretch(last, end, last, end), f"\n{text}")
    return Edit(module.stretch(line, 0, line, 0), f"{text}\n")


def inserted_before(module: Module, statement: ast.stmt, text: str) -> Edit:
    """Whole lines before a statement and its decorators, indented as it is."""
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
    return inserted_at(module, first, _indented(text, indent_of(module, statement)))


def inserted_after(module: Module, statement: ast.stmt, text: str) -> Edit:
    """Whole lines after a statement, indented as it is."""
    line = (statement.end_lineno or statement.lineno) + 1
    return inserted_at(module, line, _indented(text, indent_of(module, statement)))


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))


def deleted_lines(module: Module, first: int, last: int) -> Edit:
    """Lines taken away, their ends too."""
    if not module.is_behind(last + 1):
        return Edit(module.stretch(first, 0, last + 1, 0), "")
    return Edit(module.stretch(first, 0, last, len(module.lines[last - 1])), "")


def deleted(module: Module, statement: ast.stmt) -> Edit:
    """The lines of a statement taken away."""
    return deleted_lines(module, statement.lineno, statement.end_lineno or statement.lineno)


def indentation_inside(module: Module, block: ast.With | ast.For) -> str:
    """The blanks before the statements of a block."""
    return indent_of(module, block.body[0]) or indent_of(module, block) + INDENT


def shifted(module: Module, first: int, last: int, before: str, after: str) -> Iterator[Edit]:
    """Lines that begin with one indentation begin with another; the insides of texts over several lines stay."""
    lines, inside = module.lines, _inside_texts(module)
    for number in range(first, last + 1):
        line = lines[number - 1]
        if line.strip() and number not in inside and line.startswith(before):
            yield Edit(module.stretch(number, 0, number, len(before)), after)


def _inside_texts(module: Module) -> set[int]:
    """The lines that begin inside a text of several lines."""
    texts = (n for n in ast.walk(module.tree) if isinstance(n, (ast.Constant, ast.JoinedStr)))
    return {
        line
        for node in texts
        if isinstance(node, ast.JoinedStr) or isinstance(node.value, str | bytes)
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }


def moved_lines(module: Module, statements: Sequence[ast.stmt], indent: str) -> str:
    """The text of statements as they stand, with another indentation."""
    lines, inside, found = module.lines, _inside_texts(module), list[str]()
    for statement in statements:
        before = indent_of(module, statement)
        for number in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            line = lines[number - 1]
            keep = number in inside or not line.startswith(before)
            found.append(line if keep or not line.strip() else indent + line[len(before) :])
    return "\n".join(found)


def with_argument(module: Module, call: ast.Call, argument: str) -> Edit:
    """One more argument at the end of a call."""
    parts: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
    end_line, end_column = call.end_lineno or call.lineno, (call.end_col_offset or 1) - 1
    if not parts:
        return Edit(module.stretch(end_line, end_column, end_line, end_column), argument)
    last = max(parts, key=lambda part: (part.end_lineno or 0, part.end_col_offset or 0))
    line, column = _after_parentheses(module, last, (end_line, end_column))
    return Edit(module.stretch(line, column, line, column), f", {argument}")


def _after_parentheses(module: Module, node: ast.expr, end: tuple[int, int]) -> tuple[int, int]:
    """The place after an argument, and after the parentheses that close around it before the call's own."""
    line, column = node.end_lineno or node.lineno, node.end_col_offset or 0
    text = module.lines[line - 1]
    while text[column : column + 1] == ")" and (line, column) < end:
        column += 1
    return line, column


def expression_at(span: SourceSpan | None) -> tuple[Module, ast.expr] | None:
    """The expression at a span, and the file it is in."""
    found = located(span)
    return None if found is None or not isinstance(found[1], ast.expr) else (found[0], found[1])


def call_at(span: SourceSpan | None) -> tuple[Module, ast.Call] | None:
    """The call at a span, and the file it is in."""
    found = located(span)
    return None if found is None or not isinstance(found[1], ast.Call) else (found[0], found[1])


def statement_at(span: SourceSpan | None) -> tuple[Module, ast.stmt] | None:
    """The statement at a span or around it, and the file it is in."""
    found = located(span)
    statement = None if found is None else found[0].statement(found[1])
    return None if found is None or statement is None else (found[0], statement)


def _on(find: Callable[[SourceSpan | None], tuple[Module, N] | None]) -> Callable[[OnNode[N, P, T]], OnSpan[P, T]]:
    """Makes of a rewrite of something in a file one of what is found at a span; nothing where it is not there."""

    def decorate(rewrite: OnNode[N, P, T]) -> OnSpan[P, T]:
        @functools.wraps(rewrite)
        def at(span: SourceSpan | None, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            found = find(span)
            if found is not None:
                yield from rewrite(*found, *args, **kwargs)

        return at

    return decorate


on_node, on_expression, on_call, on_statement = _on(located), _on(expression_at), _on(call_at), _on(statement_at)


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """An argument of a call by its position or one of its names."""
    if position is not None and len(call.args) > position and not any(isinstance(a, ast.Starred) for a in call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def with_option(module: Module, call: ast.Call, name: str, value: str, position: int | None = None) -> Edit:
    """An argument of a call, changed or added."""
    known = argument(call, position, name)
    return with_argument(module, call, f"{name}={value}") if known is None else replaced(module, known, value)


def values_given(module: Module, name: str, near: ast.AST) -> list[ast.expr]:
    """What assignments in the function around a node give to a name."""
    bound = [node for node in ast.walk(module.scope(near)) if isinstance(node, ast.Assign)]
    return [node.value for node in bound if name in map(ast.unparse, node.targets)]
