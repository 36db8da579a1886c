"""The text of a program and its tree, and texts made of it by changing single nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Located = ast.expr | ast.stmt
INDENT = "    "
MAIN = "main"  # a function that holds a whole program: what is in it is as at the top of a file


@dataclass(frozen=True)
class Code:
    """One program. Nodes are those of its own `tree`."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def rows(self) -> list[str]:
        """The lines, each with its end; row 0 is line 1."""
        return self.text.splitlines(keepends=True)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def has_tensorflow(self) -> bool:
        """Whether `tf` is a name of this program."""
        return any(
            alias.asname == "tf" for node in ast.walk(self.tree) if isinstance(node, ast.Import) for alias in node.names
        )

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement_of(self, node: ast.AST) -> ast.stmt:
        return next(each for each in (node, *self.above(node)) if isinstance(each, ast.stmt))

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        return next((each for each in self.above(node) if isinstance(each, ast.FunctionDef)), None)

    def of(self, node: Located) -> str:
        """The text of a node."""
        return ast.get_source_segment(self.text, node) or ""

    def indent(self, statement: ast.stmt) -> str:
        row = self.rows[statement.lineno - 1]
        return row[: len(row) - len(row.lstrip())]

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether its lines hold nothing else, so that they can be moved as lines."""
        first, last = self.rows[statement.lineno - 1], self.rows[last_line(statement) - 1]
        rest = last.encode()[statement.end_col_offset :].decode().strip() if statement.end_col_offset else ""
        return not first.encode()[: statement.col_offset].strip() and (not rest or rest.startswith("#"))

    def lines_of(self, statement: ast.stmt, indent: str) -> list[str]:
        """The lines of a statement, with another indent."""
        old = len(self.indent(statement))
        return [indent + row[old:] for row in self.rows[statement.lineno - 1 : last_line(statement)]]

    def replaced(self, *changes: tuple[Located, str]) -> str:
        """The text with each node's text exchanged; the nodes do not overlap."""
        raw = self.text.encode()
        starts = [0]
        for row in self.rows:
            starts.append(starts[-1] + len(row.encode()))
        for node, new in sorted(changes, key=lambda each: (each[0].lineno, each[0].col_offset), reverse=True):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[last_line(node) - 1] + (node.end_col_offset or 0)
            raw = raw[:start] + new.encode() + raw[end:]
        return self._importing(raw.decode())

    def rewritten(self, removed: list[ast.stmt], inserted: dict[int, list[str]]) -> str:
        """The text without some statements, and with lines put in before others (by line; past the end: appended)."""
        gone = {line for each in removed for line in range(each.lineno, last_line(each) + 1)}
        rows: list[str] = []
        for line, row in enumerate([*self.rows, ""], 1):
            rows += inserted.get(line, [])
            rows += [] if line in gone else [row]
        return self._importing("".join(rows))

    def without_assertions(self) -> str:
        """The text with `pass` for each `assert`; no line moves.

        A program of the gallery asserts its own symptom. A mutant that stops there would not do its harm.
        """
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assert)]
        return self.replaced(*((node, "pass" + "\n" * (last_line(node) - node.lineno)) for node in found))

    def _importing(self, text: str) -> str:
        """The text with `tf` imported where it uses it; no line moves."""
        if self.has_tensorflow or "tf." not in text:
            return text
        rows = text.splitlines(keepends=True)
        first = next((node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)), None)
        if first is None:
            return text
        rows[first.lineno - 1] = f"import tensorflow as tf; {rows[first.lineno - 1]}"
        return "".join(rows)


def last_line(node: Located) -> int:
    return node.end_lineno or node.lineno


def called(node: ast.AST, *names: str) -> bool:
    """Whether it is a call of a function or method of one of these names, whatever it hangs on."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in names
    return False


def tape_name(node: ast.AST) -> str:
    """The name of the tape that a `with` block opens; empty if it is no such block."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=call, optional_vars=ast.Name(id=name))]) if called(
            call, "GradientTape"
        ):
            return name
    return ""
