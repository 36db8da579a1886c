"""What an expression may stand for: a tensor with its history, a variable, an object, a list, or something unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    __slots__ = ()
    where: ast.AST | None


PLAIN = "a plain variable"  # the name of one that no network keeps track of by itself


@dataclass(slots=True, eq=False, repr=False)
class Node(Value):
    """The result of a computation, with what it was computed from."""

    kind: Kind
    where: ast.AST | None = None
    does: Does | None = None
    inputs: tuple[Value, ...] = ()
    dtype: str | None = None
    under: frozenset[Tape] = frozenset()
    place: Place | None = None
    time: int = 0
    callee: Value | None = None  # the layer that was called
    group: Group | None = None  # it stands for every variable of this list
    of: Value | None = None  # of a gradient: what it was asked of
    parent: Value | None = None  # of an unknown attribute: whose it is
    name: str = ""
    trainable: bool | None = True
    attributes: dict[str, Value] | None = None
    words: dict[str, Value] = field(default_factory=dict)  # keyword arguments of the call


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The variables of an object, as a list that was read at some point."""

    owner: Value
    which: str  # trainable, all, fixed
    built: bool  # whether the object had its variables by then; True where that is not known
    some: bool = False  # not all of them


@dataclass(slots=True, eq=False, repr=False)
class Tape(Value):
    """One opened tape."""

    where: ast.Call
    place: Place
    persistent: bool | None = True  # None: it is not known
    watches: bool | None = True  # the variables that are read
    watched: list[tuple[Value, int]] = field(default_factory=list)  # and when
    requests: list[object] = field(default_factory=list)
    paused: int = 0
    kept: bool = False  # it may be asked elsewhere


@dataclass(slots=True, eq=False, repr=False)
class Literal(Value):
    """A constant of Python, as it is written."""

    value: object
    where: ast.AST | None = None


@dataclass(slots=True, eq=False, repr=False)
class Items(Value):
    """A list or tuple. `complete` False: it may hold more, or fewer, than is known."""

    items: list[Value]
    where: ast.AST | None = None
    complete: bool = field(default=True, kw_only=True)
    form: str = "list"
    repeated: bool = False  # `[x] * n`
    copied: ast.AST | None = None  # where a network took a copy of it
    tracked: bool = False  # it is such a copy


@dataclass(slots=True, eq=False, repr=False)
class Table(Value):
    """A dictionary whose keys are constants; other keys are None."""

    items: dict[object, Value]
    where: ast.AST | None = None
    copied: ast.AST | None = None
    tracked: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Known(Value):
    """A name of the framework, or of NumPy: a module, a class or a function."""

    dotted: str
    where: ast.AST | None = None
    root: str = ""  # the package that it was reached through


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Names and what they hold."""

    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()  # declared global or nonlocal

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


@dataclass(slots=True, eq=False, repr=False)
class Function(Value):
    """A function of the user's, perhaps bound to an object."""

    where: FunctionNode
    scope: Scope
    self_: Value | None = None
    owner: Klass | None = None
    compiled: bool = False
    custom: bool = False  # has a gradient of its own

    @property
    def node(self) -> FunctionNode:
        return self.where

    def bound(self, to: Value) -> Function:
        return replace(self, self_=to)


@dataclass(slots=True, eq=False, repr=False)
class Klass(Value):
    """A class of the user's."""

    where: ast.ClassDef
    bases: list[Value]
    members: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.where.name

    def find(self, name: str) -> Value | None:
        for each in self.line():
            if name in each.members:
                return each.members[name]
        return None

    def line(self) -> Iterator[Klass]:
        """The class itself, and those of the user's that it comes from."""
        yield self
        yield from self.ancestors()

    def ancestors(self) -> Iterator[Klass]:
        for base in self.bases:
            if isinstance(base, Klass) and base is not self:
                yield from base.line()

    def all_bases(self) -> Iterator[Value]:
        """What the class and its ancestors say that they come from."""
        return (base for each in self.line() for base in each.bases)

    @property
    def framework_base(self) -> str | None:
        """The class of the framework that it comes from."""
        return next((base.dotted for base in self.all_bases() if isinstance(base, Known)), None)


@dataclass(slots=True, eq=False, repr=False)
class Object(Value):
    """Something that a class made: a layer, an optimizer, an instance of the user's class."""

    role: Role | None
    where: ast.AST
    arguments: list[Value]
    words: dict[str, Value]
    place: Place
    dotted: str = ""
    klass: Klass | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    members: list[Value] | None = None  # the layers of a network; None: not known
    outputs: tuple[Value, Value] | None = None  # of a functional network: its inputs and outputs
    owners: list[Object] = field(default_factory=list)
    built: bool = True
    called: bool = False
    frozen: bool = False
    inside: bool = False  # it is being called
    state: Value | None = None  # of a metric: what was given to it

    @property
    def short(self) -> str:
        """`Dense` for `keras.layers.Dense`."""
        return self.dotted.rpartition(".")[2]

    @property
    def home(self) -> str:
        """The name of the framework's class that it is of; empty where it is of none."""
        return self.dotted if self.klass is None else self.klass.framework_base or ""

    def given(self, name: str, position: int) -> Value | None:
        """What it was made with, by the name of the argument or by its position."""
        return argument(self.arguments, self.words, name, position)

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

    def objects(self) -> Iterator[Object]:
        """The object itself, and those that are reached from it."""
        return (each for each in self.contents() if isinstance(each, Object))


@dataclass(slots=True, eq=False, repr=False)
class Method(Value):
    """A method of an object, a tensor or a list."""

    owner: Value
    name: str
    where: ast.AST | None


@dataclass(slots=True, eq=False, repr=False)
class Loaded(Value):
    """A module of the project that was followed."""

    scope: Scope
    where: ast.AST | None


@dataclass(slots=True, eq=False, repr=False)
class Super(Value):
    """`super()` in a method."""

    klass: Klass | None
    self_: Value
    where: None = None


def argument(arguments: Sequence[Value], words: Mapping[str, Value], name: str, position: int) -> Value | None:
    """What a call is given, by the name of the argument or by its position."""
    return words.get(name, arguments[position] if len(arguments) > position else None)
