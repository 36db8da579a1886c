"""What a function runs of its file: itself, helpers, methods of objects that it uses; and what a value is for there."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from whygrad.source.module import Module, last_name, loads, parameters, plain_names

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)
_TELLING: Final = ("warn", "error", "critical", "exception")
_WRITING: Final = ("assign", "apply_gradients", "scatter_")
_UPDATING: Final = ("apply", "minimize")
_MAKING: Final = ("append", "build")
_FIRST: Final = (0, 1)  # what a counter is compared with that tells the first time

Defined = ast.FunctionDef | ast.AsyncFunctionDef
Objects = Mapping[
    str, tuple[str, ...]
]  # objects by their names in a function: the class of each, and what that inherits
NO_OBJECTS: Final[Objects] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Body:
    """A function that runs, and what the one that all begins with calls the object that is `self` in here."""

    function: ast.AST
    owner: str = "self"

    def outer(self, name: str) -> str:
        """What the function that all begins with calls this."""
        return self.owner + name[4:] if name == "self" or name.startswith("self.") else name

    def inner(self, name: str) -> str | None:
        """What a name of the function that all begins with is called in here; None: it has no name."""
        if name == self.owner or name.startswith(f"{self.owner}."):
            return "self" + name[len(self.owner) :]
        return None if name == "self" or name.startswith("self.") else name


class Bodies:
    """All that a function runs, in the order in which it is found; `objects` are those whose classes are known."""

    def __init__(self, module: Module, function: ast.AST, objects: Objects = NO_OBJECTS) -> None:
        self.module = module
        self._objects = objects
        self._functions = {each.name: each for each in module.tree.body if isinstance(each, _DEFINED)}
        self._sites: dict[Body, list[tuple[Body, ast.expr]]] = {}
        self.all = [Body(function)]
        for body in self.all:  # grows on the way
            for site, run in self._runs(body):
                self._sites.setdefault(run, []).append((body, site))
                if run not in self.all:
                    self.all.append(run)

    def _runs(self, body: Body) -> Iterator[tuple[ast.expr, Body]]:
        """What a body runs, and where."""
        home = self.module.around(body.function, ast.ClassDef) if body.owner == "self" else None
        own = _methods(home)
        hidden = parameters(body.function) | plain_names(body.function, ast.Store) if self._objects else set()
        for node in ast.walk(body.function):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                    yield node, Body(self._functions[name], body.owner)
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) if name in own:
                    yield node, Body(own[name], body.owner)
                case ast.Attribute(value=held, attr=name, ctx=ast.Load()):
                    yield from ((node, each) for each in self._of_object(body, held, name, hidden))
                case ast.Call(func=(ast.Name() | ast.Attribute()) as held):
                    yield from ((node, each) for each in self._of_object(body, held, "__call__", hidden))

    def _of_object(self, body: Body, held: ast.expr, method: str, hidden: set[str]) -> Iterator[Body]:
        if isinstance(held, ast.Call) and last_name(held.func) == "super":
            found = [each for each in self._defined(body.owner, method) if each is not body.function]
            yield from (Body(each, body.owner) for each in found)
        elif (name := dotted(held)) is not None and name.partition(".")[0] not in hidden - {"self"}:
            owner = body.outer(name)
            yield from (Body(each, owner) for each in self._defined(owner, method)[:1])

    def _defined(self, owner: str, method: str) -> list[Defined]:
        """The methods of this name that an object has, that of its own class first."""
        homes = [self.module.classes.get(each) for each in self._objects.get(owner, ())]
        return [found for home in homes if (found := _methods(home).get(method)) is not None]

    def uses(self, name: str, change: ast.stmt | None = None) -> Iterator[ast.expr]:
        """Where a name is read for what the function computes; `change`, which gives the next value, does not count."""
        for body in self.all:
            for node in reads(body.function, body.inner(name)):
                if self.module.statement(node) is not change and _Purpose(self).is_any(body, node):
                    yield node

    def is_plain(self, body: Body, target: ast.expr) -> bool:
        """Whether this is an attribute of one of the objects, as its own methods see it."""
        return isinstance(target, ast.Attribute) and dotted(target.value) == "self" and body.owner in self._objects

    def sites(self, body: Body) -> list[tuple[Body, ast.expr]]:
        """Where a body is run."""
        return self._sites.get(body, [])

    def run_in(self, nodes: list[ast.AST]) -> dict[ast.expr, Body]:
        """What is run in some places."""
        return {site: body for body, sites in self._sites.items() for _, site in sites if site in nodes}


class _Purpose:
    """Follows one value to whatever it is used for."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._module = bodies.module
        self._seen: set[ast.AST] = set()

    def is_any(self, body: Body, node: ast.expr, *, first: bool = False) -> bool:
        """Whether it goes anywhere but into what is printed or logged, what is done once, or what nothing reads.

        `first`: it tells whether this is the first time.
        """
        if node in self._seen or is_printed(self._module, node):
            return False
        self._seen.add(node)
        first = first or _tells_first(self._module, node)
        statement = self._module.statement(node)
        if statement is None or self._only_tells(statement):
            return False
        match statement:
            case ast.If(test=test) if node in set(ast.walk(test)):
                return not self._is_for_once(body, statement, first=first)
            case ast.Expr(value=call) if node in (call, getattr(call, "func", None)):
                return False  # called for what it does, not for what it gives
            case ast.Return() if body is not self._bodies.all[0]:
                return any(self.is_any(where, site, first=first) for where, site in self._bodies.sites(body))
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in shared_names(body.function):
                return any(self.is_any(body, load, first=first) for load in loads(body.function, name))
            case (
                ast.Assign(targets=[target])
                | ast.AugAssign(target=target)
                | ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr="append")))
            ) if self._bodies.is_plain(body, target):
                return self._is_kept(body, target, set(ast.walk(statement)), first=first)
        return True

    def _is_kept(self, body: Body, target: ast.expr, own: set[ast.AST], *, first: bool) -> bool:
        """Whether an object keeps it for some purpose."""
        name = body.outer(ast.unparse(target))
        read = [(each, node) for each in self._bodies.all for node in reads(each.function, each.inner(name))]
        return any(self.is_any(each, node, first=first) for each, node in read if node not in own)

    def _is_for_once(self, body: Body, branch: ast.If, *, first: bool) -> bool:
        """Whether a branch only tells something, or does what is to be done at the first time only."""
        if all(self._only_tells(each) for each in (*branch.body, *branch.orelse)):
            return True
        nodes = [node for each in branch.body for node in ast.walk(each)]
        run = self._bodies.run_in(nodes)
        inner = [node for each in run.values() for node in ast.walk(each.function) if not isinstance(node, ast.Return)]
        known = all(self._is_known(each, run) for each in nodes if isinstance(each, ast.Expr))
        return first and not branch.orelse and known and is_done_once(body.function, nodes) and not is_lasting(inner)

    def _is_known(self, statement: ast.Expr, run: dict[ast.expr, Body]) -> bool:
        """Whether it is known what a statement does that is a call."""
        call = statement.value
        made = isinstance(call, ast.Call) and (call in run or call.func in run or last_name(call.func) in _MAKING)
        return made or self._only_tells(statement)

    def _only_tells(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=ast.Call() as call):
                return self._module.is_reporting(call) or last_name(call.func) in _TELLING
            case ast.Raise() | ast.Pass() | ast.Assert() | ast.Expr(value=ast.Constant()):
                return True
        return False


def _tells_first(module: Module, node: ast.expr) -> bool:
    """Whether it is compared to what it is at the first time: `self.calls == 1`."""
    match module.parents.get(node):
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=int() as number)]):
            return number in _FIRST
    return False


def _methods(home: ast.ClassDef | None) -> dict[str, Defined]:
    return {each.name: each for each in home.body if isinstance(each, _DEFINED)} if home is not None else {}


def is_done_once(function: ast.AST, nodes: list[ast.AST]) -> bool:
    """Whether nothing that the statements of a branch do is done again, or missed, in a later call."""
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inside = set(nodes)
    return not is_lasting(nodes) and all(load in inside for each in bound for load in loads(function, each))


def is_lasting(nodes: list[ast.AST]) -> bool:
    """Whether among these is a return, or what writes to a variable."""
    return any(
        isinstance(node, (ast.Return, ast.AugAssign))
        or (isinstance(node, ast.Attribute) and (node.attr.startswith(_WRITING) or node.attr in _UPDATING))
        for node in nodes
    )


def shared_names(function: ast.AST) -> set[str]:
    """Names declared `global` or `nonlocal`."""
    return {name for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}


def reads(function: ast.AST, name: str | None) -> Iterator[ast.expr]:
    """Where a function reads a name, a dotted one or an element."""
    named = (n for n in ast.walk(function) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)))
    return (node for node in named if name and isinstance(node.ctx, ast.Load) and ast.unparse(node) == name)


def is_printed(module: Module, node: ast.AST) -> bool:
    around = itertools.takewhile(lambda each: not isinstance(each, ast.stmt), module.ancestors(node))
    return any(isinstance(each, ast.Call) and module.is_reporting(each) for each in around)


def dotted(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            owner = dotted(value)
            return None if owner is None else f"{owner}.{attribute}"
    return None
