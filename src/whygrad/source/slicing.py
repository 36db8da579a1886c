"""Which statements feed an expression: a backward slice on the user's source, without running it.

Used where a value left the framework, so that what came back can be tied to what left.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.source import SourceSpan, source_lines

MAX_STATEMENTS = 400
_ESCAPE_METHODS = {"numpy", "convert_to_numpy", "predict", "predict_on_batch", "tolist", "item", "eval_numpy"}
_ESCAPE_BUILTINS = {"float", "int"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Exit:
    """A call through which a value leaves the framework, and the lines that feed it directly."""

    span: SourceSpan
    how: str
    feeding: frozenset[int]


@functools.lru_cache(maxsize=64)
def module_of(file: str) -> Module | None:
    """The parsed file; None where the source is gone or does not parse."""
    text = "\n".join(source_lines(file))
    try:
        return Module(file, ast.parse(text)) if text else None
    except SyntaxError:
        return None


class Module:
    """One parsed file, with what a slice needs to know of it."""

    def __init__(self, file: str, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self.functions: dict[str, list[_Function]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.arrays: set[str] = set()  # names that NumPy goes by
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                self.functions.setdefault(ast.unparse(target), []).append(node.value)
        elif isinstance(node, ast.Call):
            self.calls.setdefault(_last_name(node.func), []).append(node)
        elif isinstance(node, ast.Import):
            self.arrays.update(a.asname or a.name for a in node.names if a.name.split(".")[0] in ("numpy", "scipy"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("numpy", "scipy"):
            self.arrays.update(alias.asname or alias.name for alias in node.names)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        while not isinstance(node, ast.stmt):
            parent = self.parents.get(node)
            if parent is None:
                return None
            node = parent
        return node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function (or module) a node belongs to."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            parent = self.parents.get(parent)
        return self.tree if parent is None else parent

    def at(self, span: SourceSpan) -> ast.AST | None:
        """The innermost expression that covers a span; the statement where only the line is known."""
        best: ast.AST | None = None
        for node in ast.walk(self.tree):
            if not isinstance(node, (ast.expr, ast.stmt)) or not _covers(node, span):
                continue
            if best is None or _extent(node) <= _extent(best):
                best = node
        return best

    def span(self, node: ast.stmt | ast.expr) -> SourceSpan:
        return SourceSpan(self.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def located(span: SourceSpan | None) -> tuple[Module, ast.AST] | None:
    """The parsed file of a span, and the innermost node that covers it; None where either cannot be had."""
    module = None if span is None else module_of(span.file)
    node = None if module is None or span is None else module.at(span)
    return None if module is None or node is None else (module, node)


def _extent(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return ((node.end_lineno or node.lineno) - node.lineno, (node.end_col_offset or 0) - node.col_offset)


def _covers(node: ast.expr | ast.stmt, span: SourceSpan) -> bool:
    first = (node.lineno, node.col_offset if span.column is not None else 0)
    last = (node.end_lineno or node.lineno, (node.end_col_offset or 0) if span.end_column is not None else 10**6)
    return first <= (span.line, span.column or 0) and (span.last_line, span.end_column or 0) <= last


def feeding(span: SourceSpan) -> tuple[ast.stmt, ...]:
    """The statements whose values may enter the expression at a span, the expression's own included."""
    found = located(span)
    return () if found is None else tuple(_Slice(found[0]).run(found[1]))


def feeding_lines(span: SourceSpan) -> frozenset[int]:
    return frozenset(line for statement in feeding(span) for line in _own_lines(statement))


def exits(span: SourceSpan) -> list[Exit]:
    """Calls in the slice of an expression through which a value leaves the framework, in source order."""
    module = module_of(span.file)
    if module is None:
        return []
    found = []
    for statement in feeding(span):
        for node in _own_nodes(statement):
            how = _exit_by(module, node) if isinstance(node, ast.Call) else None
            if how is not None and isinstance(node, ast.Call):
                found.append(Exit(module.span(node), how, frozenset(_direct_lines(module, node))))
    return sorted(found, key=lambda each: (each.span.line, -(each.span.column or 0)))


def _exit_by(module: Module, call: ast.Call) -> str | None:
    function = call.func
    if isinstance(function, ast.Name):
        if function.id in module.arrays:
            return f"{function.id}()"
        return f"{function.id}()" if function.id in _ESCAPE_BUILTINS else None
    if isinstance(function, ast.Attribute):
        root: ast.expr = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in module.arrays:
            return f"{ast.unparse(function)}()"
        if function.attr in _ESCAPE_METHODS:
            return f".{function.attr}()"
    return None


def _direct_lines(module: Module, call: ast.Call) -> Iterator[int]:
    """Lines of the call itself and of the statements that last gave its arguments their values."""
    yield from range(call.lineno, (call.end_lineno or call.lineno) + 1)
    slicer = _Slice(module)
    for name in _names(call):
        for statement in slicer.sources(name, call):
            yield from _own_lines(statement)


class _Slice:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.seen: dict[ast.stmt, None] = {}

    def run(self, node: ast.AST) -> dict[ast.stmt, None]:
        statement = self.module.statement(node)
        todo: list[ast.AST] = [node]
        if statement is not None:
            self.seen[statement] = None
        while todo and len(self.seen) < MAX_STATEMENTS:
            current = todo.pop()
            for source in self._all_sources(current):
                if source not in self.seen:
                    self.seen[source] = None
                    todo.append(source)
        return self.seen

    def _all_sources(self, node: ast.AST) -> Iterator[ast.stmt]:
        for name in _names(node):
            yield from self.sources(name, node)
        for call in (n for n in _own_nodes(node) if isinstance(n, ast.Call)):
            for function in self.module.functions.get(_last_name(call.func), ()):
                yield from self._results(function)

    def _results(self, function: _Function) -> Iterator[ast.stmt]:
        if isinstance(function, ast.Lambda):
            statement = self.module.statement(function)
            if statement is not None:
                yield statement
            return
        for node in ast.walk(function):
            if isinstance(node, (ast.Return, ast.Expr)) and self.module.scope(node) is function:
                yield node

    def sources(self, name: str, at: ast.AST) -> Iterator[ast.stmt]:
        """The statements that give a name its value, in the scope of a node and around it."""
        scope = self.module.scope(at)
        while True:
            bound = list(self._bindings(name, scope))
            yield from bound
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) and name in _parameters(scope):
                yield from self._callers(scope)  # also where it is given another value: `x = x.numpy()`
                return
            if isinstance(scope, ast.Module) or bound:
                return
            scope = self.module.scope(scope)

    def _bindings(self, name: str, scope: ast.AST) -> Iterator[ast.stmt]:
        for node in ast.walk(scope):
            if not isinstance(node, ast.stmt) or node is scope or name not in _bound_names(node):
                continue
            if "." in name or self.module.scope(node) is scope:
                yield node

    def _callers(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
        for call in self.module.calls.get(function.name, ()):
            statement = self.module.statement(call)
            if statement is not None:
                yield statement


def _names(node: ast.AST) -> set[str]:
    """Names and dotted names that an expression or statement reads."""
    found = set()
    for each in _own_nodes(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self":
            found.add(f"self.{each.attr}")
    return found - {"self"}


def _bound_names(statement: ast.stmt) -> set[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets = [statement.target]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
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


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is below it, but of a compound statement only its head."""
    yield node
    children: list[ast.AST]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        children = [node.target, node.iter]
    elif isinstance(node, (ast.While, ast.If)):
        children = [node.test]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        children = list(node.items)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try)):
        children = []
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _own_nodes(child)


def _own_lines(statement: ast.stmt) -> range:
    if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef, ast.Try)):
        return range(statement.lineno, statement.lineno + 1)
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _last_name(function: ast.expr) -> str:
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )
