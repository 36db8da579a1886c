"""Which statements feed an expression: a backward slice on the user's source, without running it.

Used where a value left the framework, so that what came back can be tied to what left.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whygrad.source.module import (
    FUNCTIONS,
    Function,
    Module,
    in_one_function,
    last_name,
    loads,
    located,
    module_of,
    parameters,
    root_of,
)
from whygrad.source.text import SourceSpan

MAX_STATEMENTS = 400
Line = tuple[str, int]  # of a file
_ESCAPE_METHODS = {"numpy", "convert_to_numpy", "predict", "predict_on_batch", "tolist", "item"}
_ESCAPE_BUILTINS = {"float", "int"}
_MEASURES = ("shape", "ndim", "dtype", "size")  # what is read of a value without reading the value


@dataclass(frozen=True, slots=True)
class Exit:
    """A call through which a value leaves the framework, and the lines that feed it directly."""

    span: SourceSpan
    how: str
    feeding: tuple[Line, ...]
    statement: SourceSpan  # that it is in

    @property
    def is_of_arrays(self) -> bool:
        """Whether a function of arrays was handed the value, which it may take without asking it for anything."""
        return not self.how.startswith(".") and self.how.removesuffix("()") not in _ESCAPE_BUILTINS


def feeding(span: SourceSpan) -> tuple[ast.stmt, ...]:
    """The statements whose values may enter the expression at a span, the expression's own included."""
    found = located(span)
    return () if found is None else tuple(_Slice(found[0]).run(found[1]))


def feeding_lines(span: SourceSpan) -> frozenset[Line]:
    """The lines of these statements."""
    found = located(span)
    return frozenset[Line]() if found is None else _feeding_lines(*found)


@functools.lru_cache(maxsize=1024)  # asked of the same few places for every value that left or came in
def _feeding_lines(module: Module, node: ast.AST) -> frozenset[Line]:
    return frozenset(line for statement in _Slice(module).run(node) for line in _own_lines(module, statement))


def exits(span: SourceSpan) -> list[Exit]:
    """Calls in the slice of an expression through which a value leaves the framework, in source order."""
    place = located(span)
    return [] if place is None else _exits(*place)


@functools.lru_cache(maxsize=1024)
def _exits(module: Module, expression: ast.AST) -> list[Exit]:
    slicer, found = _Slice(module), []
    slicer.run(expression)
    for statement in slicer.seen:
        taking = set() if statement in slicer.giving else slicer.around
        for node in _own_nodes(statement):
            how = _exit_by(module, node) if isinstance(node, ast.Call) and node not in taking else None
            if how is not None and isinstance(node, ast.Call):
                lines = tuple(in_order(_direct_lines(module, node)))
                found.append(Exit(module.span(node), how, lines, module.span(statement)))
    return sorted(found, key=lambda each: (each.span.line, -(each.span.column or 0)))


def taken_by(span: SourceSpan) -> list[SourceSpan]:
    """The expressions and statements whose values a call takes, back to where others leave the framework."""
    place = located(span)
    return [] if place is None else _taken_by(*place)


@functools.lru_cache(maxsize=1024)
def _taken_by(module: Module, call: ast.AST) -> list[SourceSpan]:
    slicer, followed = _Slice(module), dict[ast.AST, None]()
    todo: list[ast.AST] = []
    if isinstance(call, ast.Call):
        todo = [*call.args, *(each.value for each in call.keywords)]
    while todo and len(followed) < MAX_STATEMENTS:
        part = todo.pop()
        leaves = any(isinstance(node, ast.Call) and _exit_by(module, node) for node in _own_nodes(part))
        if part not in followed and not leaves:
            followed[part] = None
            todo.extend(source for _, source in slicer.all_sources(part))
    return [module.span(part) for part in followed if isinstance(part, (ast.expr, ast.stmt))]


def nobody_keeps(span: SourceSpan) -> bool:
    """Whether nothing keeps the value of an expression: it is a whole statement, or nobody reads its name."""
    found = located(span)
    if found is None:
        return False
    module, node = found
    match module.statement(node):
        case ast.Expr(value=value):
            return value is node
        case ast.Assign(targets=[ast.Name(id=name)], value=value) as statement if value is node:
            scope = module.scope(statement)
            return isinstance(scope, FUNCTIONS) and not any(loads(scope, name))
    return False


def copies_weights(span: SourceSpan) -> bool:
    """Whether what leaves at a span goes into the variables of a network alone: `a.set_weights(b.get_weights())`."""
    found = located(span)
    match None if found is None else found[0].statement(found[1]):
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="set_weights"))):
            return True
    return False


def code_tells(left: SourceSpan, came: SourceSpan) -> bool:
    """Whether the code shows every way from one expression to another: both are in one function, or nothing of the
    first one's statement is kept.
    """
    found = located(left)
    if found is None or module_of(came.file) is not found[0]:
        return False
    return isinstance(found[0].statement(found[1]), ast.Expr) or in_one_function(left, came)


def _exit_by(module: Module, call: ast.Call) -> str | None:
    function = call.func
    if isinstance(function, ast.Name) and function.id in _ESCAPE_BUILTINS:
        return f"{function.id}()"
    root = root_of(function)
    if isinstance(root, ast.Name) and root.id in module.arrays:
        return f"{ast.unparse(function)}()"
    if isinstance(function, ast.Attribute) and function.attr in _ESCAPE_METHODS:
        return f".{function.attr}()"
    return None


def _direct_lines(module: Module, call: ast.Call) -> Iterator[Line]:
    """Lines of the call itself and of the statements that last gave its arguments their values."""
    yield from _lines_of(module.span(call))
    slicer = _Slice(module)
    for name in _names(call):
        for statement, _ in slicer.sources(name, call):
            yield from _own_lines(module, statement)


class _Slice:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.seen: dict[ast.stmt, None] = {}
        self.giving: set[ast.stmt] = set()  # those of them that give a name its value
        self.around: set[ast.AST] = set()  # calls and the like that take what the slice is about, and do not feed it

    def run(self, node: ast.AST) -> dict[ast.stmt, None]:
        statement = self.module.statement(node)
        self.around.update(self.module.ancestors(node))
        todo, followed = [node], {node}
        if statement is not None:
            self.seen[statement] = None
        while todo and len(self.seen) < MAX_STATEMENTS:
            current = todo.pop()
            for source, part in self.all_sources(current):
                self.seen[source] = None
                if part not in followed:
                    followed.add(part)
                    todo.append(part)
        return self.seen

    def all_sources(self, node: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
        """Statements, and the part of each that matters."""
        for name in _names(node):
            yield from self.sources(name, node)
        for call in (n for n in _own_nodes(node) if isinstance(n, ast.Call)):
            for function in self.module.functions.get(last_name(call.func), ()):
                yield from ((statement, statement) for statement in self._results(function))

    def _results(self, function: Function) -> Iterator[ast.stmt]:
        if isinstance(function, ast.Lambda):
            statement = self.module.statement(function)
            if statement is not None:
                yield statement
            return
        for node in ast.walk(function):
            if isinstance(node, (ast.Return, ast.Expr)) and self.module.scope(node) is function:
                yield node

    def sources(self, name: str, at: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
        """The statements that give a name its value, in the scope of a node and around it; of a call, the call."""
        scope = self.module.scope(at)
        while True:
            bound = list(self._bindings(name, scope))
            yield from ((statement, statement) for statement in bound)
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) and name in parameters(scope):
                yield from self._callers(scope)  # also where it is given another value: `x = x.numpy()`
                return
            if isinstance(scope, ast.Module) or bound:
                return
            scope = self.module.scope(scope)

    def _bindings(self, name: str, scope: ast.AST) -> Iterator[ast.stmt]:
        for node in self.module.binders.get(name, ()):
            inside = scope in self.module.ancestors(node) if "." in name else self.module.scope(node) is scope
            if inside and node is not scope:
                self.giving.add(node)
                yield node

    def _callers(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.stmt, ast.AST]]:
        for call in self.module.calls.get(function.name, ()):
            statement = self.module.statement(call)
            self.around.update(self.module.ancestors(call))
            if statement is not None:  # what it is given; what it gives comes later
                given = (call.func, *call.args, *(each.value for each in call.keywords))
                yield from ((statement, part) for part in given)


def _names(node: ast.AST) -> set[str]:
    """Names and dotted names whose values an expression or statement reads; `loss += x` reads `loss`."""
    found, measured = set(), set[ast.AST]()
    for each in _own_nodes(node):
        if isinstance(each, ast.Attribute) and each.attr in _MEASURES:
            measured.add(each.value)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "len":
            measured.update(each.args)
        if each in measured:
            continue
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.add(each.target.id)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self":
            found.add(f"self.{each.attr}")
    return found - {"self"}


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


def _own_lines(module: Module, statement: ast.stmt) -> list[Line]:
    lines = _lines_of(module.span(statement))
    is_compound = (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef, ast.Try)
    return lines[:1] if isinstance(statement, is_compound) else lines


def in_order(lines: Iterable[Line]) -> list[Line]:
    """Lines of one module as they follow one another, each once."""
    return sorted(set(lines), key=lambda line: module.line(*line) if (module := module_of(line[0])) else line[1])


def _lines_of(span: SourceSpan) -> list[Line]:
    return [(span.file, line) for line in range(span.line, span.last_line + 1)]
