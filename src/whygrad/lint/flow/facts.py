"""What was noted while values were followed through a file: what the rules ask about."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from whygrad.lint.values.value import Function, Group, Items, Node, Object, Place, Tape, Value, argument


@dataclass(slots=True, eq=False)
class Request:
    """A gradient asked of a tape, or by a training call (`tape` None)."""

    target: Value
    sources: list[Value]
    tape: Tape | None
    where: ast.Call
    place: Place
    time: int
    method: str = "gradient"
    inside: bool = False  # while the tape is open

    @property
    def is_lenient(self) -> bool:
        """Whether zeros are asked for where there is no gradient."""
        return any(word.arg == "unconnected_gradients" for word in self.where.keywords)


@dataclass(slots=True, eq=False)
class Update:
    """Pairs of gradient and variable that an optimizer is given, or that are written by hand."""

    optimizer: Value | None
    pairs: list[tuple[Value, Value]] | None  # None: they are not known
    where: ast.Call
    place: Place


@dataclass(slots=True, eq=False)
class Write:
    """A variable that is written."""

    variable: Node
    value: Value | None
    method: str
    where: ast.Call
    place: Place
    time: int


@dataclass(slots=True, eq=False)
class Rebinding:
    """A name or attribute that held a variable and is given something else."""

    name: str
    variable: Node
    value: Value
    where: ast.stmt
    place: Place
    time: int


@dataclass(slots=True, eq=False)
class Use:
    """A name of the framework that is used, or called."""

    dotted: str
    where: ast.expr | ast.stmt
    place: Place
    call: ast.Call | None = None
    arguments: list[Value] = field(default_factory=list)
    words: dict[str, Value] = field(default_factory=dict)
    owner: Value | None = None  # whose method it is
    method: str = ""

    @property
    def name(self) -> str:
        """`log` for `tf.math.log`."""
        return self.dotted.rpartition(".")[2]

    @property
    def loss(self) -> Value | None:
        """Of a call of `compile`: the loss that it names."""
        return argument(self.arguments, self.words, "loss", 1)


@dataclass(slots=True, eq=False)
class Reading:
    """A list of variables that was read."""

    group: Group
    where: ast.AST
    place: Place
    time: int


@dataclass(slots=True, eq=False)
class Training:
    """A network that is compiled and trained by a call."""

    network: Object
    compiled: Use | None
    where: ast.Call
    place: Place
    output: Value | None = None


@dataclass(slots=True, eq=False)
class Holding:
    """What an attribute of an object is given."""

    owner: Object
    attribute: str
    value: Value
    where: ast.AST
    place: Place
    time: int


@dataclass(slots=True, eq=False)
class Late:
    """What joins a list or dictionary after a network took its copy of it."""

    value: Value
    where: ast.AST
    copied: ast.AST


@dataclass(slots=True, eq=False)
class Facts:
    requests: list[Request] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    rebindings: list[Rebinding] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    trainings: list[Training] = field(default_factory=list)
    holdings: list[Holding] = field(default_factory=list)
    multiplied: list[tuple[Items, ast.AugAssign]] = field(default_factory=list)  # `items *= 2`
    late: list[Late] = field(default_factory=list)
    variables: list[Node] = field(default_factory=list)  # that are made
    objects: list[Object] = field(default_factory=list)  # that are made
    tapes: list[Tape] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    lists: list[Items] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    aliases: list[ast.Assign] = field(default_factory=list)  # one name for what has another
