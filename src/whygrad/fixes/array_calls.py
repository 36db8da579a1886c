"""Calls of NumPy on tensors, written with the framework's own functions, all of them on the way of a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes import rewriting as rw
from whygrad.fixes.array_words import DTYPES, FUNCTIONS, LEAVING, METHODS, RETURNING
from whygrad.source import SourceSpan, source_lines
from whygrad.source.module import Module, last_name, plain_names, root_of

_FACTS: Final = ("shape", "ndim", "size", "dtype")  # attributes that no gradient goes through
_LISTS: Final = (ast.List, ast.Tuple, ast.ListComp, ast.Attribute)
_FOREIGN: Final = ("numpy_function", "py_function", "py_func")  # run a Python function as an op
_PREDICTING: Final = ("predict", "predict_on_batch")
_MAX_FUNCTIONS: Final = 8


def without_arrays(*left: SourceSpan) -> Iterator[Fix]:
    """The values that leave at spans of one file stay tensors, and so does all that is computed from them."""
    found = [place for place in map(rw.expression_at, left) if place is not None]
    if not found or found[0] != rw.expression_at(left[0]):
        return
    module, first = found[0]
    edits = Translation(module, [node for other, node in found if other is module]).edits()
    if edits:
        shown = first if len(found) == 1 else module.statement(first) or first
        text = rw.on_one_line(module, shown).removeprefix("return ")
        yield Fix(title=f"compute `{text}` with {Word.FRAMEWORK} ops", edits=edits, safety=FixSafety.SAFE)


class UnknownCallError(Exception):
    """A call for which a framework has no word that is known here."""


class Translation:
    """The statements that values go through after they have left: in their functions, in those they are handed to."""

    def __init__(self, module: Module, nodes: list[ast.expr]) -> None:
        self._module = module
        self._nodes = nodes
        self._names: set[tuple[ast.AST | None, str]] = set()  # that hold such values, by scope; None: an object's own
        self._edits: list[Edit] = []
        self._done: set[ast.AST] = set()
        self._functions: list[ast.AST] = []

    def edits(self) -> tuple[Edit, ...]:
        """All edits, or none where some call cannot be translated."""
        later_first = sorted(self._nodes, key=lambda node: -node.lineno)
        firsts = {self._module.scope(node): self._module.statement(node) for node in later_first}
        try:
            for scope, first in firsts.items():
                self._run(scope, first)
            for function in self._functions:
                self._run(function, None)
        except UnknownCallError:
            return ()
        return tuple(self._edits)

    def _run(self, scope: ast.AST, first: ast.stmt | None) -> None:
        """Translate the statements of a function in which such a value is read, from one on."""
        for statement in self._statements(scope, first):
            if statement in self._done or not self._holds(statement):
                continue
            self._done.add(statement)
            held = [self._translate(part) for part in _own(statement)]
            if any(held):
                self._names |= {self._key(scope, name) for name in _targets(statement)}

    def _statements(self, scope: ast.AST, first: ast.stmt | None) -> list[ast.stmt]:
        line = 0 if first is None else first.lineno
        own = [n for n in ast.walk(scope) if isinstance(n, ast.stmt) and n is not scope and n.lineno >= line]
        return sorted((n for n in own if self._module.scope(n) is scope), key=lambda n: n.lineno)

    def _key(self, scope: ast.AST, name: str) -> tuple[ast.AST | None, str]:
        if name.startswith("self."):
            self._follow_object(scope)
            return None, name
        return scope, name

    def _follow_object(self, scope: ast.AST) -> None:
        """The other methods of an object may read what it keeps."""
        owner = self._module.around(scope, ast.ClassDef)
        for method in () if owner is None else owner.body:
            if isinstance(method, ast.FunctionDef) and method is not scope:
                self._follow(method)

    def _follow(self, function: ast.AST) -> None:
        if function not in self._functions and len(self._functions) < _MAX_FUNCTIONS:
            self._functions.append(function)

    def _holds(self, node: ast.AST) -> bool:
        parts = _own(node) if isinstance(node, ast.stmt) else [node]
        return any(self._is_held(each) for part in parts for each in ast.walk(part))

    def _is_held(self, node: ast.AST) -> bool:
        if node in self._nodes:
            return True
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            return False
        text = ast.unparse(node)
        return (None, text) in self._names or (self._module.scope(node), text) in self._names

    def _translate(self, node: ast.expr) -> bool:
        """Translate what is below, then the node itself; whether its value is one that stays a tensor."""
        if isinstance(node, ast.Call) and self._module.is_reporting(node):
            return False
        if isinstance(node, ast.Call) and last_name(node.func) in _FOREIGN:
            return self._foreign(node)
        held = self._is_held(node)
        for child in ast.iter_child_nodes(node):
            inner = child.value if isinstance(child, ast.keyword) else child
            if isinstance(inner, ast.comprehension):
                held |= self._loop(inner)
            elif isinstance(inner, ast.expr) and not isinstance(inner, ast.Lambda):
                held |= self._translate(inner)
        if isinstance(node, ast.Attribute) and node.attr in _FACTS:
            return False
        if isinstance(node, ast.Call) and last_name(node.func) == "len":
            return False
        if held and isinstance(node, ast.Call):
            self._call(node)
        return held

    def _loop(self, loop: ast.comprehension) -> bool:
        held = self._translate(loop.iter)
        if held:
            scope = self._module.scope(loop.iter)
            self._names |= {(scope, name) for name in plain_names(loop.target)}
        return held

    def _call(self, call: ast.Call) -> None:
        function = call.func
        path = self._array_path(function)
        if path is not None:
            self._array_call(call, path)
        elif isinstance(function, ast.Attribute):
            self._method_call(call, function)
        elif isinstance(function, ast.Name) and function.id == "float" and len(call.args) == 1:
            self._around(call, call.args[0], "", "")
        elif isinstance(function, ast.Name):
            self._own_call(call, function.id)
        if last_name(function) in RETURNING and len(call.args) == 1 and self._holds(call.args[0]):
            self._returning(call)

    def _array_path(self, function: ast.expr) -> str | None:
        """`linalg.norm` for `np.linalg.norm`; the name itself where it was imported by name."""
        if not isinstance(root_of(function), ast.Name):
            return None
        head, _, rest = ast.unparse(function).partition(".")
        return None if head not in self._module.arrays else rest or head

    def _array_call(self, call: ast.Call, path: str) -> None:
        if path in DTYPES and len(call.args) == 1:
            self._around(call, call.args[0], f"{Word.CAST}(", f", {DTYPES[path]})")
            return
        same = FUNCTIONS.get(path)
        if same is None:
            raise UnknownCallError(path)
        self._replace(call.func, f"{same.word}")
        for keyword in call.keywords:
            if keyword.arg == "dtype" and same.word is Word.TO_DENSE:
                self._replace(keyword.value, f"{_dtype(keyword.value)}")
            elif keyword.arg not in ("axis", "keepdims", "axes", "repeats", "shift"):
                raise UnknownCallError(f"{path}({keyword.arg}=...)")
        if same.add and (same.unless is None or rw.argument(call, *same.unless) is None):
            self._edits.append(rw.with_argument(self._module, call, same.add))

    def _method_call(self, call: ast.Call, function: ast.Attribute) -> None:
        name, value = function.attr, function.value
        if name in LEAVING and not call.args:
            self._around(call, value, "", "")
        elif name == "astype" and len(call.args) == 1:
            self._around(call, value, f"{Word.CAST}(", f", {_dtype(call.args[0])})")
        elif name in _PREDICTING and call.args:
            self._replace(function, rw.operand_text(self._module, value))
            self._after(call, call.args[-1], ", training=True")
        elif name in METHODS and self._holds(value):
            self._method(call, function)

    def _own_call(self, call: ast.Call, name: str) -> None:
        """A function of the user's is given a tensor now."""
        known = self._module.functions.get(name, [])
        if len(known) == 1 and isinstance(known[0], ast.FunctionDef):
            for parameter, value in zip(known[0].args.args, call.args, strict=False):
                if self._holds(value):
                    self._names.add((known[0], parameter.arg))
            self._follow(known[0])

    def _foreign(self, call: ast.Call) -> bool:
        """`numpy_function(f, [a, b], dtype)` is `f(a, b)`."""
        function, given = rw.argument(call, 0, "func"), rw.argument(call, 1, "inp", "Tin")
        known = self._module.functions.get(ast.unparse(function) if function is not None else "", [])
        if function is None or not isinstance(given, ast.List) or len(known) != 1:
            raise UnknownCallError(last_name(call.func))
        text = ", ".join(rw.text_at(self._module, each) for each in given.elts)
        self._replace(call, f"{rw.text_at(self._module, function)}({text})")
        if isinstance(known[0], ast.FunctionDef):
            self._names |= {(known[0], each.arg) for each in known[0].args.args}
            self._follow(known[0])
        return True

    def _method(self, call: ast.Call, function: ast.Attribute) -> None:
        """`x.sum(axis=0)` is `reduce_sum(x, axis=0)`."""
        same = FUNCTIONS[function.attr]
        if same.add or (function.attr in ("reshape", "transpose") and len(call.args) != 1):
            raise UnknownCallError(function.attr)
        start, value, opened = (self._module.span(each) for each in (call, function.value, function))
        line, column = opened.end_line or opened.line, opened.end_column or 0
        dot, file, comma = column - len(function.attr) - 1, start.file, ", " if call.args or call.keywords else ""
        text = source_lines(file)[line - 1]
        around = text[start.column : value.column], text[value.end_column : dot]
        if start.line == value.line and value.last_line == line and around == ("(", ")"):
            begin, end = value.column, value.end_column  # its parentheses are those of the call now
        else:
            begin, end = start.column, dot
        self._edits += (
            Edit(SourceSpan(file, start.line, start.column, start.line, begin), f"{same.word}("),
            Edit(SourceSpan(file, line, end, line, column + 1), comma),
        )

    def _returning(self, call: ast.Call) -> None:
        """What made a constant of a value takes the value itself; a list becomes one tensor."""
        value = call.args[0]
        if isinstance(value, _LISTS) or self._is_list(value):
            self._replace(call.func, f"{Word.TO_DENSE}")
        else:
            self._around(call, value, "", "")

    def _is_list(self, value: ast.expr) -> bool:
        made = rw.values_given(self._module, ast.unparse(value), value)
        return any(isinstance(each, (ast.List, ast.ListComp)) for each in made)

    def _around(self, call: ast.Call, value: ast.expr, before: str, after: str) -> None:
        """What is inside a call, in place of the call."""
        whole, inner = self._module.span(call), self._module.span(value)
        parent = self._module.parents.get(call)
        alone = isinstance(parent, (ast.Assign, ast.Return, ast.keyword)) or (
            isinstance(parent, ast.Call) and call in parent.args
        )
        plain = isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
        left, right = ("", "") if plain or alone or before else ("(", ")")
        file = whole.file
        self._edits += (
            Edit(SourceSpan(file, whole.line, whole.column, inner.line, inner.column), before + left),
            Edit(SourceSpan(file, inner.last_line, inner.end_column, whole.end_line, whole.end_column), right + after),
        )

    def _after(self, call: ast.Call, last: ast.expr, text: str) -> None:
        """Other arguments after one of a call."""
        whole, inner = self._module.span(call), self._module.span(last)
        end = (whole.end_column or 1) - 1
        self._edits.append(Edit(SourceSpan(whole.file, inner.last_line, inner.end_column, whole.end_line, end), text))

    def _replace(self, node: ast.expr, text: str) -> None:
        self._edits.append(rw.replaced(self._module, node, text))


def _dtype(node: ast.expr) -> Word:
    name = node.value if isinstance(node, ast.Constant) else last_name(node)
    if name not in DTYPES:
        raise UnknownCallError(str(name))
    return DTYPES[str(name)]


def _own(statement: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement, without the statements in it and without tests, which need numbers anyway."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.With, ast.Try, ast.Assert)):
        return
    yield from (child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr))


def _targets(statement: ast.stmt) -> set[str]:
    """The names that a statement gives its value to."""
    found: list[ast.expr] = []
    match statement:
        case ast.Assign(targets=targets):
            found = targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            found = [target]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr="append" | "extend"))):
            found = [holder]
    names = [n for target in found for n in ast.walk(target) if isinstance(n, (ast.Name, ast.Attribute))]
    return {ast.unparse(n) for n in names if not (isinstance(n, ast.Name) and n.id == "self")}
