"""A parsed file of the user's: which node stands at a span, and what is around it."""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import gc
import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from whygrad.source.text import SourceSpan, cells_around, characters, file_text, is_cell

_EDITED: Final = 0.5  # of the words of a cell are still there after an edit; two cells that bind one name share fewer
_PRINTING = ("print", "info", "debug", "warning")
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (*_NAMED, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
K = TypeVar("K", bound=ast.AST)


def module_of(file: str) -> Module | None:
    """The parsed file, as its text is now; None where the source is gone or does not parse.

    The cells of a notebook are one module, as they are for Python: what one defines, the others use.
    """
    notebook = _notebook(cells_around(file)) if is_cell(file) else None
    return notebook if notebook is not None and notebook.has(file) else _parse(file, file_text(file))


@functools.lru_cache(maxsize=64)
def _parse(file: str, text: str) -> Module | None:
    try:
        return Module(file, text) if text else None
    except (SyntaxError, ValueError, RecursionError):  # ValueError: null bytes
        return None


@functools.lru_cache(maxsize=8)
def _notebook(cells: tuple[tuple[str, str], ...]) -> Module | None:
    """Cells as one module, without those that do not parse, and what one was before it was edited and run again."""
    kept = list[tuple[str, str]]()
    later = dict[frozenset[str], list[str]]()  # texts by what they give names to
    for file, text in reversed(cells):
        names = _names_of_cell(text)
        if names is not None and not any(names and _are_alike(text, each) for each in later.get(names, ())):
            kept.append((file, text))
            later.setdefault(names, []).append(text)
    return Module.of_cells(kept[::-1]) if kept else None


@functools.lru_cache(maxsize=1024)
def _are_alike(one: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio() > _EDITED


@functools.lru_cache(maxsize=1024)
def _names_of_cell(text: str) -> frozenset[str] | None:
    """What a cell gives names to, functions and classes too; None where it does not parse."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    defined = (each.name for each in statements if isinstance(each, (*_NAMED, ast.ClassDef)))
    return frozenset().union(defined, *map(bound_names, statements))


class Cell(NamedTuple):
    """A cell of a notebook, and where its lines are in the text of all; one blank line follows each."""

    file: str
    before: int  # lines of the cells above
    length: int


class Module:
    """One parsed file, or all cells of a notebook; the columns of its nodes count characters, as spans do.

    The lines of its nodes count through all cells; spans speak of the lines of each.
    """

    @classmethod
    def of_cells(cls, texts: Sequence[tuple[str, str]]) -> Module:
        cells, before = list[Cell](), 0
        for file, text in texts:
            cells.append(Cell(file, before, text.count("\n") + 1))
            before += cells[-1].length + 1
        return cls(texts[-1][0], "\n\n".join(text for _, text in texts), cells)

    def __init__(self, file: str, text: str, cells: Sequence[Cell] = ()) -> None:
        self.file = file
        self.text = text
        self.cells = {cell.file: cell for cell in cells}
        self.tree = ast.parse(text)
        self._found: dict[SourceSpan, ast.expr | ast.stmt | None] = {}  # what stands at the spans that were asked for
        if not text.isascii():
            lines = text.split("\n")
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.expr, ast.stmt)):
                    _count_in_characters(node, lines)

    @functools.cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n") if self.text else []

    def has(self, file: str) -> bool:
        return file in self.cells

    def line(self, file: str, line: int) -> int:
        """A line of a file, as the nodes count it."""
        cell = self.cells.get(file)
        return line if cell is None else line + cell.before

    def _cell_of(self, line: int) -> Cell:
        found = (each for each in self.cells.values() if each.before < line <= each.before + each.length + 1)
        return next(found, Cell(self.file, 0, len(self.lines)))

    def is_behind(self, line: int) -> bool:
        """Whether it is the line after the last one of the file, or of a cell."""
        cell = self._cell_of(line)
        return line > cell.before + cell.length

    def stretch(self, line: int, column: int | None, end_line: int | None, end_column: int | None) -> SourceSpan:
        """A span, from lines as the nodes count them."""
        cell = self._cell_of(line)
        end = None if end_line is None else end_line - cell.before
        return SourceSpan(cell.file, line - cell.before, column, end, end_column)

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @functools.cached_property
    def functions(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for node in self.parents:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                for target in node.targets:
                    found.setdefault(ast.unparse(target), []).append(node.value)
        return found

    @functools.cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Those whose name no other class has."""
        found = [node for node in self.parents if isinstance(node, ast.ClassDef)]
        names = [each.name for each in found]
        return {each.name: each for each in found if names.count(each.name) == 1}

    @functools.cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self.parents:
            if isinstance(node, ast.Call):
                found.setdefault(last_name(node.func), []).append(node)
        return found

    @functools.cached_property
    def binders(self) -> dict[str, list[ast.stmt]]:
        """The statements that give a name, or an attribute of one, a value."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in (node for node in self.parents if isinstance(node, ast.stmt)):
            for name in bound_names(statement):
                found.setdefault(name, []).append(statement)
        return found

    @functools.cached_property
    def arrays(self) -> set[str]:
        """The names that NumPy goes by."""
        found: set[str] = set()
        for node in self.parents:
            if isinstance(node, ast.Import):
                found.update(a.asname or a.name for a in node.names if a.name.split(".")[0] in ("numpy", "scipy"))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("numpy", "scipy"):
                found.update(alias.asname or alias.name for alias in node.names)
        return found

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node is, or is in."""
        return node if isinstance(node, ast.stmt) else self.around(node, ast.stmt)

    def scope(self, node: ast.AST) -> ast.AST:
        """The function (or module) a node belongs to."""
        return self.around(node, *FUNCTIONS) or self.tree

    def around(self, node: ast.AST, *kinds: type[K]) -> K | None:
        """The innermost of such kinds that a node stands in."""
        return next((each for each in self.ancestors(node) if isinstance(each, kinds)), None)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def loops_around(self, node: ast.AST) -> list[ast.For | ast.AsyncFor | ast.While]:
        """The loops of its own function that a node stands in, innermost first."""
        inside = itertools.takewhile(lambda each: not isinstance(each, FUNCTIONS), self.ancestors(node))
        return [each for each in inside if isinstance(each, LOOPS)]

    def before(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The statements that stand before a place in the blocks around it, innermost block first."""
        for parent in self.ancestors(node):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(parent, name, None)
                if isinstance(block, list) and node in block:
                    yield from block[: block.index(node)]
            node = parent

    def at(self, span: SourceSpan) -> ast.expr | ast.stmt | None:
        """The innermost node that covers a span; the innermost statement where only the line is known."""
        if span not in self._found:
            self._found[span] = self._innermost(self._counted(span))
        return self._found[span]

    def _counted(self, span: SourceSpan) -> SourceSpan:
        """A span with the lines that the nodes have."""
        if span.file not in self.cells:
            return span
        end = None if span.end_line is None else self.line(span.file, span.end_line)
        return SourceSpan(span.file, self.line(span.file, span.line), span.column, end, span.end_column)

    def _innermost(self, span: SourceSpan) -> ast.expr | ast.stmt | None:
        kinds = (ast.stmt,) if span.column is None or span.end_column is None else (ast.expr, ast.stmt)
        best: ast.expr | ast.stmt | None = None
        for node in ast.walk(self.tree):
            if isinstance(node, kinds) and _covers(node, span) and (best is None or _extent(node) <= _extent(best)):
                best = node
        return best

    def function_at(self, file: str, line: int) -> Function | None:
        """The innermost function that begins at a line of a file, with or without decorators."""
        found, line = None, self.line(file, line)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if line in (node.lineno, min([node.lineno, *(each.lineno for each in node.decorator_list)])):
                    return node
            elif isinstance(node, ast.Lambda) and node.lineno == line:
                found = node
        return found

    def is_reporting(self, call: ast.Call) -> bool:
        """Whether a call prints or logs what it is given: `run.log(x)` stands alone, `np.log(x)` gives a value."""
        name = last_name(call.func)
        return name in _PRINTING or (name == "log" and isinstance(self.parents.get(call), ast.Expr))

    def span(self, node: ast.stmt | ast.expr) -> SourceSpan:
        return self.stretch(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def located(span: SourceSpan | None) -> tuple[Module, ast.expr | ast.stmt] | None:
    """The parsed file of a span, and the innermost node that covers it; None where either cannot be had."""
    module = None if span is None else module_of(span.file)
    node = None if module is None or span is None else module.at(span)
    return None if module is None or node is None else (module, node)


def is_before(one: SourceSpan, other: SourceSpan) -> bool:
    """Whether one line of a module comes before another."""
    module = module_of(one.file)
    lines = [each.line if module is None else module.line(each.file, each.line) for each in (one, other)]
    return lines[0] < lines[1]


def in_one_function(one: SourceSpan, other: SourceSpan) -> bool:
    """Whether two spans lie in the same function, or both in a file's own code."""
    here, there = located(one), located(other)
    return here is not None and there is not None and here[0].scope(here[1]) is there[0].scope(there[1])


def function_around(span: SourceSpan | None) -> str | None:
    """The name of the function that a span lies in; None: it lies in none, or in one without a name."""
    found = located(span)
    return None if found is None else getattr(found[0].scope(found[1]), "name", None)


def blocks_around(span: SourceSpan | None) -> Iterator[tuple[str, int]]:
    """File and line of what each `with` statement enters that a span lies in, within its function."""
    found = located(span)
    node: ast.AST | None = None if found is None else found[1]
    while found is not None and node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(node, ast.With):
            entered = (found[0].span(item.context_expr) for item in node.items)
            yield from ((each.file, each.line) for each in entered)
        node = found[0].parents.get(node)


def parameters(function: ast.AST) -> set[str]:
    """The names that a function is given; none for what is no function."""
    return {node.arg for node in ast.walk(getattr(function, "args", ast.Pass())) if isinstance(node, ast.arg)}


def loads(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a plain name is read."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def plain_names(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """The names below a node, whatever they belong to; of a context, those that are read, or bound."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}


def bound_names(statement: ast.stmt) -> set[str]:
    """The names, and attributes of names, that a statement gives a value or changes."""
    targets = targets_of(statement)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func  # `items.append(x)` changes `items`
        if isinstance(function, ast.Attribute) and isinstance(function.value, (ast.Name, ast.Attribute)):
            return {ast.unparse(function.value)}
    found = set()
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add(f"{node.value.id}.{node.attr}")
    return found


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment or a loop gives its value to."""
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor)):
        return [node.target]
    return node.targets if isinstance(node, ast.Assign) else []


def root_of(function: ast.expr) -> ast.expr:
    """`np` for `np.linalg.norm`."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return function


def last_name(function: ast.expr) -> str:
    """`log` for `np.log`, and for `log`; empty for what has no name."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _count_in_characters(node: ast.expr | ast.stmt, lines: Sequence[str]) -> None:
    node.col_offset = characters(lines[node.lineno - 1], node.col_offset)
    node.end_col_offset = characters(lines[(node.end_lineno or node.lineno) - 1], node.end_col_offset or 0)


def _extent(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return ((node.end_lineno or node.lineno) - node.lineno, (node.end_col_offset or 0) - node.col_offset)


def _covers(node: ast.expr | ast.stmt, span: SourceSpan) -> bool:
    if span.column is None or span.end_column is None:
        return node.lineno <= span.line and span.last_line <= (node.end_lineno or node.lineno)
    first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return first <= (span.line, span.column) and (span.last_line, span.end_column) <= last


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """For what makes many small objects, as a parsed file or a graph: none is garbage, and looking takes long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
