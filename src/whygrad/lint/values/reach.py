"""What a target can reach along gradients, where the ways end, and what lies behind those ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from whygrad.backends.api import Does, Role
from whygrad.lint.values.value import Group, Items, Kind, Node, Object, Table, Tape, Value


class Why(Enum):
    """Why a way ends."""

    OP = auto()  # an op without a derivative
    INTEGER = auto()
    STOP = auto()
    LEFT = auto()  # the value left the framework
    UNRECORDED = auto()
    SAMPLE = auto()
    UNREGISTERED = auto()
    ZERO = auto()
    WRITTEN = auto()  # through a variable
    STATE = auto()  # of a metric
    KEPT = auto()  # in a data set


_ENDS: Final = {
    Does.COMPARE: Why.OP,
    Does.ROUND: Why.OP,
    Does.INDEX: Why.OP,
    Does.ONE_HOT: Why.OP,
    Does.SIGN: Why.ZERO,
    Does.STOP: Why.STOP,
    Does.SAMPLE: Why.SAMPLE,
    Does.UNREGISTERED: Why.UNREGISTERED,
    Does.FOREIGN: Why.LEFT,
    Does.TO_ARRAY: Why.LEFT,
    Does.STATE: Why.STATE,
}
DATA: Final = "a data set"  # the name of what one is made by
_FROM_OUTSIDE: Final = (None, Does.CONSTANT, Does.FILLED, Does.NOISE, Does.SHAPE, Does.EITHER)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A value that the gradient does not pass, although something of interest may lie behind it."""

    at: Node
    why: Why
    chooses: bool = False  # it only says which of several values is taken


@dataclass(slots=True, eq=False)
class Reach:
    """`unknown`: a call of something unknown was met, which may lead anywhere."""

    nodes: dict[int, Node] = field(default_factory=dict)
    callees: list[Value] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    unknown: bool = False
    guesses: list[Node] = field(default_factory=list)  # unknown values that are used as they are

    @property
    def is_learned(self) -> bool:
        """Whether a layer or a variable is met."""
        return bool(self.callees) or any(node.kind is Kind.VARIABLE for node in self.nodes.values())

    def has(self, source: Value) -> bool:
        """Whether a variable, or one of those that an entry stands for, is reached."""
        if isinstance(source, Node) and source.group is not None:
            return self.has_part_of(source.group.owner)
        if id(source) in self.nodes or self.calls(source):
            return True
        if isinstance(source, Object):
            return any(related(source, each) for each in self.callees)
        return isinstance(source, Node) and self.calls(source.parent)

    def calls(self, owner: Value | None) -> bool:
        """Whether this very object is called on the way."""
        return any(owner is each for each in self.callees)

    def has_part_of(self, owner: Value) -> bool:
        if any(related(owner, each) for each in self.callees):
            return True
        return any(related(owner, node) for node in self.nodes.values() if node.kind is not Kind.TENSOR)


def reach(target: Value, tape: Tape | None) -> Reach:
    """Follow a target back along what the tape recorded and what has a derivative."""
    found = Reach()
    waiting: list[Value] = [target]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (Items, Table)):
            waiting += value.items if isinstance(value, Items) else value.items.values()
            continue
        if isinstance(value, Object):
            if value.role is Role.ARRAY_OF_TENSORS:
                waiting += value.members or ()
            found.callees.append(value)
            continue
        if not isinstance(value, Node) or id(value) in found.nodes:
            continue
        if is_data(value):
            found.nodes[id(value)] = value
            found.cuts.append(Cut(value, Why.KEPT))
            continue
        why = _end(value, tape)
        if why is Why.UNRECORDED and tape is not None and any(each is value for each, _ in tape.watched):
            found.nodes[id(value)] = value  # a way begins here, whatever came before
            continue
        if why is not None:
            found.cuts.append(Cut(value, why))
            continue
        found.nodes[id(value)] = value
        if value.callee is not None:
            found.callees.append(value.callee)
            found.unknown = found.unknown or is_opaque(value.callee)
        if value.kind is Kind.VARIABLE and value.of is not None and behind(value.of).is_learned:
            found.cuts.append(Cut(value, Why.WRITTEN))
        if value.kind is Kind.UNKNOWN and value.does is not Does.EITHER:
            found.unknown = found.unknown or _is_of_a_call(value)
            found.guesses.append(value)
        waiting += _onward(value, found)
    return found


def _end(node: Node, tape: Tape | None) -> Why | None:
    if node.kind is Kind.ARRAY or (node.kind is Kind.NUMBER and node.inputs):
        return Why.LEFT
    if node.does in _ENDS and node.does is not None:
        return _ENDS[node.does]
    if node.kind is Kind.VARIABLE:
        return None
    if node.dtype == "int" and node.does is not Does.EITHER and (node.inputs or node.callee is not None):
        return Why.INTEGER
    if tape is None or tape in node.under or node.does is Does.EITHER:
        return None
    if node.does in _FROM_OUTSIDE and node.callee is None:
        return None
    if node.kind is Kind.UNKNOWN and node.callee is None:
        return None
    return Why.UNRECORDED


def _is_of_a_call(node: Node) -> bool:
    """Whether something unknown is what a call gave, or an attribute of that."""
    return any(isinstance(each, Node) and each.callee is not None for each in _upwards(node))


def is_opaque(value: Value) -> bool:
    """A network that may hold layers which were made elsewhere in the file."""
    if not isinstance(value, Object) or value.klass is not None or value.members is not None:
        return False
    return value.role in (Role.SEQUENTIAL, Role.NETWORK) and bool(value.arguments or value.words)


def _onward(node: Node, found: Reach) -> tuple[Value, ...]:
    """The inputs that a gradient goes on to."""
    match node.does:
        case Does.GATHER | Does.SELECT:
            first, rest = node.inputs[:1], node.inputs[1:]
            taken, chosen = (first, rest) if node.does is Does.GATHER else (rest, first)
            for each in nodes_in(chosen):
                why = _ENDS.get(each.does, Why.INTEGER) if each.does else Why.INTEGER
                found.cuts.append(Cut(each, why, chooses=True))
            return taken
        case Does.SHAPE:
            return ()
        case Does.WRITTEN:
            found.cuts += (Cut(node, Why.WRITTEN) for _ in nodes_in(node.inputs[1:]))
            return node.inputs[:1]
    return node.inputs


def flat(value: Value) -> Iterator[Value]:
    """The values in a list, tuple or dictionary; else the value itself."""
    if not isinstance(value, (Items, Table)):
        yield value
        return
    waiting: list[Value] = [value]
    seen: set[int] = set()  # a list may hold itself
    while waiting:
        each = waiting.pop()
        if not isinstance(each, (Items, Table)):
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            waiting += reversed(each.items if isinstance(each, Items) else list(each.items.values()))


def nodes_in(values: Iterable[Value]) -> list[Node]:
    """The results of computations among values and in their lists."""
    return [each for value in values for each in flat(value) if isinstance(each, Node)]


def behind(value: Value, *, limit: int = 4000) -> Reach:
    """All that a value depends on, by whatever way."""
    found = Reach()
    waiting: list[Value] = [value]
    while waiting and limit:
        limit -= 1
        each = waiting.pop()
        if isinstance(each, (Items, Table)):
            waiting += flat(each)
        elif isinstance(each, Object):
            found.callees.append(each)
        elif isinstance(each, Node) and id(each) not in found.nodes:
            found.nodes[id(each)] = each
            if each.callee is not None:
                found.callees.append(each.callee)
                found.unknown = found.unknown or each.kind is Kind.UNKNOWN or is_opaque(each.callee)
            if each.does is not Does.SHAPE:
                waiting += each.inputs
            if each.kind is Kind.UNKNOWN:  # a part of something, or what a method of it gave
                waiting += (whole for whole in (each.parent, each.callee) if isinstance(whole, Node))
            if each.kind is Kind.VARIABLE and each.of is not None:
                waiting.append(each.of)
    return found


def is_data(value: Value) -> bool:
    """Whether a value comes straight out of a data set."""
    for _ in range(20):
        if not isinstance(value, Node) or value.kind is not Kind.UNKNOWN:
            return False
        if value.name == DATA:
            return True
        above = value.parent or value.callee or (value.inputs[0] if len(value.inputs) == 1 else None)
        if above is None:
            return False
        value = above
    return False


def related(one: Value, other: Value) -> bool:
    """Whether one holds the other, or both are parts of something that was not made here."""
    if one is other:
        return True
    if isinstance(other, Node) and other.group is not None:
        return related(one, other.group.owner)
    ups, others = list(_upwards(one)), list(_upwards(other))
    if any(each is other for each in ups) or any(each is one for each in others):
        return True
    if isinstance(one, Object) and any(each is other for each in one.contents()):
        return True
    return isinstance(other, Object) and any(each is one for each in other.contents())


def is_listed(sources: Iterable[Value], made: Object) -> bool:
    """Whether one of some sources stands for variables that an object has, or is a part of."""
    owners = (source.group.owner for source in sources if isinstance(source, Node) and source.group is not None)
    return any(related(owner, made) for owner in owners)


def _upwards(value: Value) -> Iterator[Value]:
    """An attribute, whose it is, and so on."""
    current: Value | None = value
    for _ in range(40):
        if current is None:
            return
        yield current
        current = (current.parent or current.callee) if isinstance(current, Node) else None


def origin(cut: Cut, source: Value) -> Node:
    """Where on the way to a source the trouble of a cut begins: the step from tensor to array, or to integer."""
    current = cut.at
    for _ in range(200):
        troubled = (each for each in nodes_in(current.inputs) if _same_trouble(each, cut))
        onward = next((each for each in troubled if behind(each).has(source)), None)
        if onward is None:
            return current
        current = onward
    return current


def _same_trouble(node: Node, cut: Cut) -> bool:
    if node.does is Does.EITHER:
        return True
    match cut.why:
        case Why.LEFT:
            return node.kind in (Kind.ARRAY, Kind.NUMBER)
        case Why.INTEGER | Why.OP:
            return node.dtype == "int" and bool(node.inputs)
        case Why.UNRECORDED:
            return node.kind is not Kind.VARIABLE and node.under == cut.at.under and bool(node.inputs or node.callee)
    return False


def parts_of(group: Group) -> list[Value] | None:
    """The layers and variables that a list of variables comes from; None where they are not all known."""
    owner = group.owner
    if not isinstance(owner, Object):
        return None
    found: list[Value] = []
    for each in owner.contents():
        if isinstance(each, Object) and each.role is not None:
            if each.members is None and each.role in (Role.SEQUENTIAL, Role.NETWORK) and each.klass is None:
                return None
            if each.klass is not None and _is_strange(each):
                return None
            if each.frozen and group.which == "trainable":
                return None
            if each.role is Role.LAYER and each.klass is None:
                found.append(each)
        elif isinstance(each, Node) and each.kind is Kind.VARIABLE and each.trainable is True:
            found.append(each)
        elif isinstance(each, Node) and each.kind is Kind.UNKNOWN and each.does is not Does.EITHER:
            return None
    return found


def _is_strange(made: Object) -> bool:
    assert made.klass is not None
    bases = list(made.klass.all_bases())
    return any(isinstance(base, Node) for base in bases) or (not bases and made.role is not None)
