"""What an expression may stand for: a tensor with its history, a variable, an object, a list, or something unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from whygrad.backends.api import Does, Role


class Kind(Enum):
    """What the value of a computation is made of."""

    TENSOR = auto()
    VARIABLE = auto()
    ARRAY = auto()  # of NumPy
    NUMBER = auto()  # of Python
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the program something happens: in which calls, loops and blocks."""

    loops: tuple[ast.AST, ...] = ()  # around it, outermost first, those of the callers included
    calls: tuple[ast.AST, ...] = ()  # the functions that it runs in, outermost first
    traced: ast.AST | None = None  # the compiled function that it is traced in
    branch: bool = False  # under a condition inside of that function
    sites: tuple[ast.AST, ...] = ()  # the calls of these functions

    @property
    def function(self) -> ast.AST | None:
        return self.calls[-1] if self.calls else None


class Value:
    """Anything; two values are the same only if they are one object."""

    __slots__ = ("where",)

    def __init__(self, where: ast.AST | None = None) -> None:
        self.where = where


PLAIN = "a plain variable"  # the name of one that no network keeps track of by itself


class Node(Value):
    """The result of a computation, with what it was computed from."""

    __slots__ = (
        *("attributes", "callee", "does", "dtype", "group", "inputs", "kind", "name", "of", "parent", "place", "time"),
        *("trainable", "under", "words"),
    )

    def __init__(
        self,
        kind: Kind,
        where: ast.AST | None = None,
        *,
        does: Does | None = None,
        inputs: tuple[Value, ...] = (),
        under: frozenset[Tape] = frozenset(),
        dtype: str | None = None,
        place: Place | None = None,
        time: int = 0,
    ) -> None:
        super().__init__(where)
        self.kind = kind
        self.does = does
        self.inputs = inputs
        self.under = under
        self.dtype = dtype
        self.place = place
        self.time = time
        self.callee: Value | None = None  # the layer that was called
        self.group: Group | None = None  # it stands for every variable of this list
        self.of: Value | None = None  # of a gradient: what it was asked of
        self.parent: Value | None = None  # of an unknown attribute: whose it is
        self.name = ""
        self.trainable: bool | None = True
        self.attributes: dict[str, Value] | None = None
        self.words: dict[str, Value] = {}  # keyword arguments of the call


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The variables of an object, as a list that was read at some point."""

    owner: Value
    which: str  # trainable, all, fixed
    built: bool  # whether the object had its variables by then; True where that is not known
    some: bool = False  # not all of them

    @property
    def key(self) -> tuple[int, str]:
        return id(self.owner), self.which


class Tape(Value):
    """One opened tape."""

    __slots__ = ("closed", "kept", "opened", "paused", "persistent", "place", "requests", "watched", "watches")

    def __init__(self, where: ast.AST, *, persistent: bool | None, watches: bool | None, place: Place) -> None:
        super().__init__(where)
        self.persistent = persistent  # None: it is not known
        self.watches = watches  # the variables that are read
        self.watched: list[tuple[Value, int]] = []  # and when
        self.requests: list[object] = []
        self.opened = False
        self.closed = False
        self.paused = 0
        self.place = place
        self.kept = False  # it may be asked elsewhere


class Literal(Value):
    """A constant of Python, as it is written."""

    __slots__ = ("value",)

    def __init__(self, value: object, where: ast.AST | None = None) -> None:
        super().__init__(where)
        self.value = value


class Items(Value):
    """A list or tuple. `complete` False: it may hold more, or fewer, than is known."""

    __slots__ = ("complete", "copied", "form", "items", "repeated", "tracked")

    def __init__(self, items: list[Value], where: ast.AST | None = None, *, complete: bool = True) -> None:
        super().__init__(where)
        self.items = items
        self.complete = complete
        self.form = "list"
        self.repeated = False  # `[x] * n`
        self.copied: ast.AST | None = None  # where a network took a copy of it
        self.tracked = False  # it is such a copy


class Table(Value):
    """A dictionary whose keys are constants; other keys are None."""

    __slots__ = ("copied", "items", "tracked")

    def __init__(self, items: dict[object, Value], where: ast.AST | None = None) -> None:
        super().__init__(where)
        self.items = items
        self.copied: ast.AST | None = None
        self.tracked = False


class Known(Value):
    """A name of the framework, or of NumPy: a module, a class or a function."""

    __slots__ = ("dotted", "root")

    def __init__(self, dotted: str, where: ast.AST | None = None, root: str = "") -> None:
        super().__init__(where)
        self.dotted = dotted
        self.root = root  # the package that it was reached through


class Scope:
    """Names and what they hold."""

    __slots__ = ("names", "outer", "shared")

    def __init__(self, outer: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.shared: frozenset[str] = frozenset()  # declared global or nonlocal

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def home(self, name: str) -> Scope:
        """The scope that an assignment of the name goes to."""
        if name not in self.shared:
            return self
        scope = self.outer
        while scope is not None and name not in scope.names and scope.outer is not None:
            scope = scope.outer
        return scope or self


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Function(Value):
    """A function of the user's, perhaps bound to an object."""

    __slots__ = ("compiled", "custom", "owner", "scope", "self_")

    def __init__(self, where: FunctionNode, scope: Scope) -> None:
        super().__init__(where)
        self.scope = scope
        self.self_: Value | None = None
        self.owner: Klass | None = None
        self.compiled = False
        self.custom = False  # has a gradient of its own

    @property
    def node(self) -> FunctionNode:
        assert isinstance(self.where, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        return self.where

    def bound(self, to: Value) -> Function:
        copy = Function(self.node, self.scope)
        copy.self_, copy.owner, copy.compiled, copy.custom = to, self.owner, self.compiled, self.custom
        return copy


class Klass(Value):
    """A class of the user's."""

    __slots__ = ("bases", "members", "name", "role")

    def __init__(self, where: ast.ClassDef, bases: list[Value]) -> None:
        super().__init__(where)
        self.name = where.name
        self.bases = bases
        self.members: dict[str, Value] = {}
        self.role: Role | None = None

    def find(self, name: str) -> Value | None:
        for each in (self, *self.ancestors()):
            if name in each.members:
                return each.members[name]
        return None

    def ancestors(self) -> Iterator[Klass]:
        for base in self.bases:
            if isinstance(base, Klass) and base is not self:
                yield base
                yield from base.ancestors()

    @property
    def framework_base(self) -> str | None:
        """The class of the framework that it comes from."""
        for each in (self, *self.ancestors()):
            for base in each.bases:
                if isinstance(base, Known):
                    return base.dotted
        return None


class Object(Value):
    """Something that a class made: a layer, an optimizer, an instance of the user's class."""

    __slots__ = (
        *("arguments", "attributes", "built", "called", "dotted", "frozen", "inside", "klass", "members", "name"),
        *("outputs", "owners", "place", "role", "state", "time", "words"),
    )

    def __init__(self, role: Role | None, where: ast.AST | None, *, dotted: str = "", place: Place) -> None:
        super().__init__(where)
        self.role = role
        self.dotted = dotted
        self.klass: Klass | None = None
        self.arguments: list[Value] = []
        self.words: dict[str, Value] = {}
        self.attributes: dict[str, Value] = {}
        self.members: list[Value] | None = None  # the layers of a network; None: not known
        self.outputs: tuple[Value, Value] | None = None  # of a functional network: its inputs and outputs
        self.owners: list[Object] = []
        self.place = place
        self.time = 0
        self.built = True
        self.called = False
        self.frozen = False
        self.inside = False  # it is being called
        self.state: Value | None = None  # of a metric: what was given to it
        self.name = ""

    @property
    def short(self) -> str:
        """`Dense` for `keras.layers.Dense`."""
        return self.dotted.rpartition(".")[2]

    def contents(self) -> Iterator[Value]:
        """The objects and variables that are reached from it by members and attributes."""
        seen: set[int] = set()
        waiting: list[Value] = [self]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            yield value
            if isinstance(value, Object):
                waiting += value.members or ()
                waiting += value.attributes.values()
            elif isinstance(value, Items):
                waiting += value.items
            elif isinstance(value, Table):
                waiting += value.items.values()
            elif isinstance(value, Node) and value.does is Does.EITHER:
                waiting += value.inputs


class Method(Value):
    """A method of an object, a tensor or a list."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str, where: ast.AST | None) -> None:
        super().__init__(where)
        self.owner = owner
        self.name = name


class Loaded(Value):
    """A module of the project that was followed."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope, where: ast.AST | None) -> None:
        super().__init__(where)
        self.scope = scope


class Super(Value):
    """`super()` in a method."""

    __slots__ = ("klass", "self_")

    def __init__(self, klass: Klass | None, self_: Value) -> None:
        super().__init__(None)
        self.klass = klass
        self.self_ = self_
