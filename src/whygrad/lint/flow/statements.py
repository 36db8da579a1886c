"""Statements, followed in their order; branches are all taken, loops once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from whygrad.backends.api import Api, Does, Role
from whygrad.lint.flow.expressions import UNROLLED, Expressions, is_plain, plain_key
from whygrad.lint.flow.facts import Rebinding
from whygrad.lint.flow.imports import Imports
from whygrad.lint.flow.operations import OPERATORS
from whygrad.lint.values.value import (
    Function,
    Items,
    Kind,
    Klass,
    Known,
    Literal,
    Loaded,
    Method,
    Node,
    Object,
    Scope,
    Table,
    Tape,
    Value,
)
from whygrad.source.module import plain_names


class Statements(Expressions):
    """One method a form of statement; each says whether what follows it in the block is not reached."""

    def __init__(self, api: Api, imports: Imports | None = None) -> None:
        super().__init__(api)
        self.imports = imports
        self.frames = []
        self.compilations = {}
        self.added_losses = {}

    def run_block(self, body: Sequence[ast.stmt]) -> bool:
        for statement in body:
            run = _FORMS.get(type(statement))
            if run is not None and run(self, statement):
                return True
        return False

    def _expression(self, node: ast.Expr) -> bool:
        self.evaluate(node.value)
        return False

    def _assign(self, node: ast.Assign) -> bool:
        value = self.evaluate(node.value)
        if isinstance(value, Object) and isinstance(node.value, (ast.Name, ast.Attribute)) and len(node.targets) == 1:
            self.facts.aliases.append(node)
        for target in node.targets:
            self.bind_target(target, value, node)
        return False

    def _annotated(self, node: ast.AnnAssign) -> bool:
        if node.value is not None:
            self.bind_target(node.target, self.evaluate(node.value), node)
        return False

    def _augmented(self, node: ast.AugAssign) -> bool:
        old = self.evaluate(node.target)
        value = self.evaluate(node.value)
        if isinstance(old, Items) and isinstance(node.op, ast.Add):
            old.items += value.items if isinstance(value, Items) else [self.element(value, node)]
            old.complete = old.complete and isinstance(value, Items) and value.complete and not self.place.loops
            return False
        if isinstance(old, Items) and isinstance(node.op, ast.Mult):
            self.facts.multiplied.append((old, node))
        place = ast.copy_location(ast.Constant(None), node)  # of the expression that the statement computes
        made = self.operate(OPERATORS.get(type(node.op), Does.SMOOTH), (old, value), place)
        self.bind_target(node.target, made, node)
        return False

    def bind_target(self, target: ast.expr, value: Value, statement: ast.stmt | None) -> None:
        match target:
            case ast.Name(id=name):
                home = self.scope.home(name)
                self._note_rebinding(name, home.names.get(name), value, statement)
                home.names[name] = value
            case ast.Attribute(value=owner, attr=name):
                held = self.evaluate(owner)
                old = held.attributes.get(name) if isinstance(held, (Object, Node)) and held.attributes else None
                self._note_rebinding(ast.unparse(target), old, value, statement)
                if statement is not None:
                    self.set_attribute(held, name, value, statement)
            case ast.Subscript(value=owner, slice=key):
                self._set_item(self.evaluate(owner), self.evaluate(key), value, statement)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value, statement)
            case ast.Starred(value=inner):
                self.bind_target(inner, value, statement)

    def _note_rebinding(self, name: str, old: Value | None, value: Value, statement: ast.stmt | None) -> None:
        if isinstance(old, Items) and isinstance(value, Items) and old.items and value.items and old is not value:
            old, value = old.items[0], value.items[0]
        if statement is None or not isinstance(old, Node) or old.kind is not Kind.VARIABLE or old is value:
            return
        self.facts.rebindings.append(Rebinding(name, old, value, statement, self.place, self.time))

    def _set_item(self, owner: Value, key: Value, value: Value, statement: ast.stmt | None) -> None:
        if isinstance(owner, (Items, Table)) and statement is not None:
            value = self.joined(owner, value, statement)
        if isinstance(owner, Table):
            owner.items[plain_key(key)] = value
        elif isinstance(owner, Items):
            position = plain_key(key)
            if isinstance(position, int) and -1 < position < len(owner.items):
                self._note_rebinding("", owner.items[position], value, statement)
                owner.items[position] = value
            else:
                owner.items = [self.join(each, value) for each in owner.items] or [value]
                owner.complete = False
        elif isinstance(owner, Node) and owner.kind is Kind.ARRAY:
            owner.inputs = (*owner.inputs, value)

    def _unpack(self, targets: list[ast.expr], value: Value, statement: ast.stmt | None) -> None:
        items = value.items if isinstance(value, Items) and value.complete else []
        known = len(items) == len(targets) and not any(isinstance(each, ast.Starred) for each in targets)
        for position, target in enumerate(targets):
            part = items[position] if known else self._part(value, position, target)
            self.bind_target(target, part, statement)

    def _part(self, value: Value, position: int, target: ast.expr) -> Value:
        if isinstance(value, Items):
            entry = self.element(value, target)
            if isinstance(entry, Node) and (entry.group is not None or isinstance(entry.of, Node)):
                return self.one_of(entry, target)
            return entry
        if isinstance(value, Node) and value.kind is not Kind.UNKNOWN:
            return self.element(value, target)
        if isinstance(value, Node):
            made = self.child(value, f"[{position}]", target)
            if isinstance(made, Node) and not made.inputs:
                made.inputs = (value,)
                made.of = value.of
            return made
        return self.unknown(target, (value,))

    # blocks

    def _if(self, node: ast.If) -> bool:
        test = self.evaluate(node.test)
        known = _decided(node.test)
        if known is None and isinstance(test, Literal) and isinstance(test.value, bool) and is_plain(node.test):
            known = test.value
        if known is not None:
            return self.run_block(node.body if known else node.orelse)
        with self.inside(self.branching()):
            return self._branches([node.body, node.orelse])

    def _branches(self, bodies: list[list[ast.stmt]]) -> bool:
        scope, before = self.scope, dict(self.scope.names)
        ends: list[dict[str, Value]] = []
        for body in bodies:
            scope.names = dict(before)
            if not self.run_block(body):
                ends.append(scope.names)
        if not ends:
            scope.names = before
            return True
        merged = ends[0]
        for other in ends[1:]:
            for name in {*merged, *other}:
                merged[name] = self.join(merged.get(name), other.get(name))
        scope.names = merged
        return False

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        given = self.evaluate(node.iter)
        entries = [self.element(given, node.iter)]
        if (
            isinstance(given, Items)
            and given.complete
            and 1 < len(given.items) <= UNROLLED
            and any(isinstance(each, (Object, Function, Klass)) for item in given.items for each in _row(item))
        ):
            entries = list(given.items)
        self._loop(node, entries)
        return self.run_block(node.orelse)

    def _while(self, node: ast.While) -> bool:
        self.evaluate(node.test)
        self._loop(node, [Literal(True)])  # one turn, which binds nothing
        return False

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, entries: list[Value]) -> None:
        before = dict(self.scope.names)
        carries = _carries_on(node)
        with self.inside(self.looping(node)):
            for entry in entries:
                if not isinstance(node, ast.While):
                    self.bind_target(node.target, entry, node)
                self.run_block(node.body)
        after = self.scope.names
        for name, old in before.items():
            new = after.get(name)
            if new is not old and len(entries) == 1 and not isinstance(new, (Items, Table)):
                after[name] = self.join(old, new)
                if carries:
                    after[name] = self.join(after[name], self.unknown(node))

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        opened: list[Tape] = []
        paused: list[Tape] = []
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if isinstance(value, Tape):
                opened.append(value)
                self.tapes.append(value)
            elif isinstance(value, Method) and value.name == "paused" and isinstance(value.owner, Tape):
                value.owner.paused += 1
                paused.append(value.owner)
            self.refresh()
            if item.optional_vars is not None:
                self.bind_target(item.optional_vars, value, node)
        lifted = any(self._lifts(item.context_expr) for item in node.items)
        with self.inside(replace(self.place, traced=None) if lifted else self.place):
            ended = self.run_block(node.body)
        for tape in opened:
            self.tapes.remove(tape)
        for tape in paused:
            tape.paused -= 1
        self.refresh()
        return ended

    def _lifts(self, node: ast.expr) -> bool:
        callee = self.evaluate(node.func) if isinstance(node, ast.Call) else None
        return isinstance(callee, Known) and callee.dotted in self.api.lifts

    def _try(self, node: ast.Try) -> bool:
        ended = self.run_block(node.body)
        handlers = [handler.body for handler in node.handlers]
        with self.inside(self.branching()):
            self._branches([node.orelse, *handlers])
        return self.run_block(node.finalbody) or (ended and not handlers)

    def _match(self, node: ast.Match) -> bool:
        self.evaluate(node.subject)
        with self.inside(self.branching()):
            self._branches([*(case.body for case in node.cases), []])
        return False

    # definitions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        made: Value = Function(node, self.scope)
        for decorator in reversed(node.decorator_list):
            by = self.evaluate(decorator)
            role = self.role_of(by.dotted) if isinstance(by, Known) else None
            if role in (Role.COMPILED, Role.CUSTOM_GRADIENT) and isinstance(made, Function):
                made = self.compiled(made, role)
        assert isinstance(made, Function)
        self.defined.append(made)
        self.scope.names[node.name] = made
        return False

    def _class(self, node: ast.ClassDef) -> bool:
        made = Klass(node, [self.evaluate(base) for base in node.bases])
        outer, self.scope = self.scope, Scope(self.scope)
        self.run_block(node.body)
        made.members, self.scope = self.scope.names, outer
        for member in made.members.values():
            if isinstance(member, Function):
                member.owner, member.scope = made, outer
        self.classes.append(made)
        self.scope.names[node.name] = made
        return False

    def _import(self, node: ast.Import) -> bool:
        for alias in node.names:
            root = alias.name.split(".")[0]
            name = alias.asname or root
            dotted = self.spelled(alias.name if alias.asname else root)
            if dotted:
                self.scope.names[name] = Known(dotted, node, root)
                continue
            plain = alias.asname is not None or "." not in alias.name
            scope = self.imports.scope(alias.name, 0, node) if self.imports is not None and plain else None
            self.scope.names[name] = self.foreign(alias.name, node) if scope is None else Loaded(scope, node)
        return False

    def _import_from(self, node: ast.ImportFrom) -> bool:
        outside = bool(node.module) and not node.level and self.spelled(f"{node.module}.") is not None
        for alias in node.names:
            found_here = None if outside else self._of_project(node, alias)
            if found_here is not None:
                self.scope.names[alias.asname or alias.name] = found_here
                continue
            whole = f"{node.module}.{alias.name}"
            dotted = self.spelled(whole) if node.module and not node.level else None
            root = whole.split(".")[0]
            found: Value = Known(dotted, node, root) if dotted else self.foreign(whole, node)
            if isinstance(found, Known) and found.dotted in self.api.gone:
                found = self.known(found.dotted, node, root)
            self.scope.names[alias.asname or alias.name] = found
        return False

    def _of_project(self, node: ast.ImportFrom, alias: ast.alias) -> Value | None:
        """What a name of another file of the project stands for; None where that is not known."""
        if self.imports is None:
            return None
        scope = self.imports.scope(node.module, node.level, node)
        if scope is not None and alias.name == "*":
            self.scope.names |= scope.names
            return None
        if scope is not None and alias.name in scope.names:
            return scope.names[alias.name]
        inner = self.imports.scope(f"{node.module}.{alias.name}" if node.module else alias.name, node.level, node)
        return None if inner is None else Loaded(inner, node)

    def spelled(self, name: str) -> str | None:
        """A dotted import in the spelling of the tables; None where it is of no framework."""
        for root, short in self.api.roots.items():
            if name == root or name.startswith(f"{root}."):
                return short + name[len(root) :]
        return None

    # ends

    def _return(self, node: ast.Return) -> bool:
        value = self.evaluate(node.value) if node.value is not None else Literal(None, node)
        if self.frames:
            self.frames[-1].values.append(value)
        for each in _row(value):
            if isinstance(each, Tape):
                each.kept = True
        return True

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self.evaluate(node.exc)
        return True

    def _stop(self, node: ast.stmt) -> bool:
        return True

    def _test(self, node: ast.Assert) -> bool:
        self.evaluate(node.test)
        return False

    def _delete(self, node: ast.Delete) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                held = self.scope.find(target.id)
                if isinstance(held, Tape):
                    held.kept = True
        return False

    def _share(self, node: ast.Global | ast.Nonlocal) -> bool:
        self.scope.shared |= frozenset(node.names)
        return False


def _carries_on(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether one turn leaves values for other statements of the next: one turn does not show what depends on what."""
    stored: dict[str, int] = {}
    read: list[tuple[str, int]] = []
    for statement in loop.body:
        mine = plain_names(statement, ast.Store)
        names = {n.id: n.lineno for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        read += [(name, line) for name, line in names.items() if name not in mine]
        stored.update((name, statement.lineno) for name in mine if name not in stored)
    return any(line < stored.get(name, 0) for name, line in read)


def _row(value: Value) -> list[Value]:
    return value.items if isinstance(value, Items) else [value]


def _decided(test: ast.expr) -> bool | None:
    match test:
        case ast.Constant(value=bool() as value):
            return value
        case ast.Compare(left=ast.Name(id="__name__")):
            return True
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
    return None


_FORMS: Final[dict[type[ast.stmt], Callable[[Statements, Any], bool]]] = {
    ast.Expr: Statements._expression,
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._annotated,
    ast.AugAssign: Statements._augmented,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.AsyncFor: Statements._for,
    ast.While: Statements._while,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Try: Statements._try,
    ast.Match: Statements._match,
    ast.FunctionDef: Statements._function,
    ast.AsyncFunctionDef: Statements._function,
    ast.ClassDef: Statements._class,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import_from,
    ast.Return: Statements._return,
    ast.Raise: Statements._raise,
    ast.Continue: Statements._stop,
    ast.Break: Statements._stop,
    ast.Assert: Statements._test,
    ast.Delete: Statements._delete,
    ast.Global: Statements._share,
    ast.Nonlocal: Statements._share,
}
if hasattr(ast, "TryStar"):
    _FORMS[ast.TryStar] = Statements._try
