"""Questions to a graph: reachability and cuts. Pure functions; each is linear in the number of ops."""

from __future__ import annotations

import functools
import operator
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar, cast

from whygrad.graph.node import Flow, Graph, Op, OpId, OpKind, TapeId, Tensor, TensorId, VariableId
from whygrad.graph.recording import Request, Source
from whygrad.source import SourceSpan

T = TypeVar("T")


class Reason(StrEnum):
    """Why an edge carries no gradient."""

    OUTSIDE = "outside"  # the tape did not record the op
    BLOCKED = "blocked"  # the op gives None to this input
    UNREGISTERED = "unregistered"
    STOPPED = "stopped"
    SAMPLED = "sampled"
    FOREIGN = "foreign"
    STATE = "state"
    WRITTEN = "written"  # the value went into a variable
    CUSTOM = "custom"
    ZERO = "zero"


_BY_KIND = {
    OpKind.STOP: Reason.STOPPED,
    OpKind.SAMPLE: Reason.SAMPLED,
    OpKind.FOREIGN: Reason.FOREIGN,
    OpKind.STATE: Reason.STATE,
    OpKind.WRITE: Reason.WRITTEN,
    OpKind.CUSTOM: Reason.CUSTOM,
}


@dataclass(frozen=True, slots=True)
class Cut:
    """An op on the way from a source to the target whose edge carries no gradient."""

    op: Op
    input: int
    reason: Reason


_indexes: dict[int, tuple[weakref.ref[Graph], Index]] = {}


def index_of(graph: Graph) -> Index:
    """The index of a graph, made once for all rules; it goes when the graph does."""
    number = id(graph)
    known = _indexes.get(number)
    if known is None or known[0]() is not graph:
        index = Index(graph)
        index.graph_reference = weakref.ref(graph, lambda _: _indexes.pop(number, None))
        known = _indexes[number] = (index.graph_reference, index)
    return known[1]


def target_makers(request: Request) -> tuple[Op, ...]:
    """The ops that gave what is differentiated."""
    makers = index_of(request.graph).makers
    return tuple(op for target in request.targets for op in makers.get(target, ()))


def made_at(request: Request) -> tuple[SourceSpan | None, ...]:
    """Where the user's code made what is differentiated: the same for one loss in all of its steps."""
    return tuple(op.where for op in target_makers(request))


def _carries(tensor: Tensor) -> bool:
    return tensor.is_floating or tensor.is_opaque


class Index:
    """The edges of one graph, and the answers already given about it."""

    graph_reference: weakref.ref[Graph]

    def __init__(self, graph: Graph) -> None:
        self.ops = graph.ops
        self.tensors = graph.tensors
        self._answers: dict[object, set[TensorId]] = {}
        self._derived: dict[object, object] = {}
        self._wide_open: dict[TapeId | None, set[OpId]] = {}
        self._inert = {number for number, tensor in graph.tensors.items() if not _carries(tensor)}
        self.written: dict[VariableId, list[Op]] = defaultdict(list)
        self.makers: dict[TensorId, list[Op]] = defaultdict(list)
        self.users: dict[TensorId, list[tuple[Op, int]]] = defaultdict(list)
        self.reads: dict[VariableId, list[Op]] = defaultdict(list)
        self.writes: dict[VariableId, list[Op]] = defaultdict(list)
        for op in graph.ops:
            for tensor in op.outputs:
                self.makers[tensor].append(op)
            for position, tensor in enumerate(op.inputs):
                self.users[tensor].append((op, position))
            if op.variable is not None:
                if op.kind is OpKind.WRITE:
                    self.written[op.variable].append(op)
                if op.kind in (OpKind.WRITE, OpKind.STATE) and op.inputs:
                    self.writes[op.variable].append(op)
                if op.kind is not OpKind.WRITE and op.outputs:
                    self.reads[op.variable].append(op)

    def derived(self, key: object, find: Callable[[], T]) -> T:
        """What another question has found out about this graph, kept with it."""
        if key not in self._derived:
            self._derived[key] = find()
        return cast("T", self._derived[key])

    def starts(self, source: Source) -> Iterator[TensorId]:
        """Where a source's values enter the graph."""
        if source.tensor is not None:
            yield source.tensor
        if source.variable is not None:
            for op in self.reads.get(source.variable, ()):
                yield from op.outputs

    def results(self, op: Op) -> Sequence[TensorId]:
        """The tensors an op's values go to; a write goes to the later reads of the variable."""
        if op.kind is OpKind.SHAPE:
            return ()
        if op.variable is None or op.kind not in (OpKind.WRITE, OpKind.STATE):
            return op.outputs
        later = (read for read in self.reads.get(op.variable, ()) if read.id > op.id)
        return [*op.outputs, *(each for read in later for each in read.outputs)]

    def origins(self, tensor: TensorId) -> Sequence[TensorId]:
        """The tensors a tensor's values come from."""
        return [each for op in self.makers.get(tensor, ()) for each in self._taken(op)]

    def _taken(self, op: Op) -> Sequence[TensorId]:
        """The tensors whose values an op's results come from; a read takes what was written before."""
        if op.kind is OpKind.SHAPE:
            return ()
        if op.variable is None or op.kind not in (OpKind.READ, OpKind.STATE):
            return op.inputs
        earlier = (write for write in self.writes.get(op.variable, ()) if write.id < op.id)
        return [*op.inputs, *(each for write in earlier for each in write.inputs)]

    def origin(self, tensor: TensorId) -> SourceSpan | None:
        """Where a tensor's values were made: what only moves or converts them is passed over."""
        where, seen = None, set[TensorId]()
        while tensor not in seen and self.makers.get(tensor):
            seen.add(tensor)
            op = self.makers[tensor][0]
            where = op.where or where
            if op.kind in (OpKind.MOVE, OpKind.CAST) and op.inputs:
                tensor = op.inputs[0]
        return where

    def ahead(self, starts: Iterable[TensorId]) -> set[TensorId]:
        """Every tensor whose values depend on one of these."""
        return _closure(starts, lambda tensor: (r for op, _ in self.users.get(tensor, ()) for r in self.results(op)))

    def behind(self, ends: Iterable[TensorId]) -> set[TensorId]:
        """Every tensor that one of these depends on."""
        key = ("behind", tuple(ends))
        if key not in self._answers:
            self._answers[key] = _closure(key[1], self.origins)
        return self._answers[key]

    def behind_to(self, ends: Iterable[TensorId], borders: Set[TensorId]) -> set[TensorId]:
        """Every tensor that one of these depends on, as far back as to the borders."""
        return _closure(ends, lambda tensor: () if tensor in borders else self.origins(tensor))

    def open_ahead(self, starts: Iterable[TensorId], tape: TapeId | None, *, zeros: bool = True) -> set[TensorId]:
        """Every tensor a gradient could come back from to one of these."""

        wide = self.wide_open(tape)

        def step(tensor: TensorId) -> Iterator[TensorId]:
            for op, position in self.users.get(tensor, ()):
                if op.id in wide:
                    yield from op.outputs
                elif closed(op, position, tape, zeros=zeros) is None:
                    yield from (result for result in op.outputs if self.can_carry(result))

        return _closure(starts, step)

    def can_carry(self, tensor: TensorId) -> bool:
        """Whether a tensor's type can carry a gradient; positions and truth values cannot."""
        return tensor not in self._inert

    def wide_open(self, tape: TapeId | None) -> set[OpId]:
        """The ops that pass a gradient on to every input: nearly all, so that few need a closer look."""
        known = self._wide_open.get(tape)
        if known is None:
            inert = self._inert
            known = self._wide_open[tape] = {
                op.id
                for op in self.ops
                if (tape is None or tape in op.tapes)
                and op.kind is not OpKind.WRITE
                and op.kind is not OpKind.STOP
                and all(flow is Flow.CARRIED for flow in op.flows)
                and inert.isdisjoint(op.outputs)
            }
        return known

    def open_behind(
        self,
        ends: Iterable[TensorId],
        tape: TapeId | None,
        *,
        zeros: bool = True,
        avoiding: Set[TensorId] = frozenset(),
        without: Set[tuple[OpId, int]] = frozenset(),
    ) -> set[TensorId]:
        """Every tensor that a gradient at one of these flows on to, without going through `avoiding`.

        And without the inputs of ops in `without`.
        """

        def step(tensor: TensorId) -> Iterator[TensorId]:
            for op in self.makers.get(tensor, ()) if tensor not in avoiding and self.can_carry(tensor) else ():
                for position, source in enumerate(op.inputs):
                    if closed(op, position, tape, zeros=zeros) is None and (op.id, position) not in without:
                        yield source

        key = ("open", tuple(ends), tape, zeros)
        if avoiding or without:  # asked for many sets of tensors, of each once
            return _closure(key[1], step)
        if key not in self._answers:
            self._answers[key] = _closure(key[1], step)
        return self._answers[key]


Step = Callable[[TensorId], Iterable[TensorId]]


def _closure(starts: Iterable[TensorId], step: Step) -> set[TensorId]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for tensor in step(todo.pop()):
            if tensor not in seen:
                seen.add(tensor)
                todo.append(tensor)
    return seen


def closed(op: Op, position: int, tape: TapeId | None, *, zeros: bool = True) -> Reason | None:
    """Why no gradient comes back through this input; None: it does."""
    flow = op.flows[position]
    recorded = tape is None or tape in op.tapes
    if flow is Flow.CARRIED and recorded and op.kind not in (OpKind.WRITE, OpKind.STOP):
        return None
    if op.kind in _BY_KIND and not (op.kind is OpKind.SAMPLE and flow is Flow.CARRIED):
        return _BY_KIND[op.kind]
    if op.kind is OpKind.GRADIENT or not recorded:
        return Reason.OUTSIDE
    if flow is Flow.ZERO:
        return None if zeros else Reason.ZERO
    return Reason.UNREGISTERED if flow is Flow.UNREGISTERED else Reason.BLOCKED


@dataclass(frozen=True, slots=True)
class CutGroup:
    """One place that cuts, whatever number of ops and sources it touches."""

    cut: Cut  # the first op of the place
    sources: tuple[Source, ...]


def cut_groups(index: Index, request: Request, sources: Iterable[Source], *, zeros: bool = True) -> list[CutGroup]:
    """Where the paths from these sources to the target stop carrying a gradient, nearest the source first.

    Nothing is told of a source that has an open path, nor any place whose mending would not bring it nearer.
    """
    wanted = tuple(sources)
    starts: dict[TensorId, int] = defaultdict(int)  # sets of sources, as bits
    for number, source in enumerate(wanted):
        for tensor in recorded_starts(index, source, request.tape):
            starts[tensor] |= 1 << number
    held = _held(index, starts, request.tape, zeros)
    wanting = _wanting(index, request.targets, held, (1 << len(wanted)) - 1)
    found: dict[object, list[tuple[Cut, int]]] = defaultdict(list)
    for number, source in enumerate(wanted):
        for cut in _unrecorded_reads(index, source, request.tape):
            if _union(wanting, cut.op.outputs) >> number & 1:
                found[_place(cut)].append((cut, 1 << number))
    for cut, stopped in _frontier(index, request.tape, held, wanting, zeros):
        found[_place(cut)].append((cut, stopped))
    return sorted((_group(wanted, items) for items in found.values()), key=lambda group: group.cut.op.id)


def _group(wanted: tuple[Source, ...], items: list[tuple[Cut, int]]) -> CutGroup:
    bits = functools.reduce(operator.or_, (stopped for _, stopped in items))
    first = min((cut for cut, _ in items), key=lambda cut: cut.op.id)
    return CutGroup(first, tuple(source for number, source in enumerate(wanted) if bits >> number & 1))


def _union(sets: Mapping[TensorId, int], tensors: Iterable[TensorId]) -> int:
    return functools.reduce(operator.or_, (sets.get(tensor, 0) for tensor in tensors), 0)


def _held(index: Index, starts: Mapping[TensorId, int], tape: TapeId, zeros: bool) -> dict[TensorId, int]:
    """For each tensor the sources that a gradient at it could come back to.

    Ops are in the order they ran: one pass suffices unless a loop leads back.
    """
    held = dict(starts)
    wide = index.wide_open(tape)
    again = bool(held)
    while again:
        again = False
        for op in index.ops:
            bits, is_wide = 0, op.id in wide
            for position, tensor in enumerate(op.inputs):
                if tensor in held and (is_wide or closed(op, position, tape, zeros=zeros) is None):
                    bits |= held[tensor]
            for tensor in op.outputs if bits else ():
                if bits & ~held.get(tensor, 0) and index.can_carry(tensor):
                    held[tensor] = held.get(tensor, 0) | bits
                    again = again or any(user.id <= op.id for user, _ in index.users.get(tensor, ()))
    return held


def _wanting(
    index: Index, targets: Iterable[TensorId], held: Mapping[TensorId, int], everyone: int
) -> dict[TensorId, int]:
    """For each tensor the sources that could reach a target from it without meeting what they reach already."""
    ends = tuple(targets)
    wanting = dict.fromkeys(ends, everyone & ~_union(held, ends))
    again = any(wanting.values())
    while again:
        again = False
        for op in reversed(index.ops):
            bits = 0
            for tensor in index.results(op):
                bits |= wanting.get(tensor, 0)
            for tensor in op.inputs if bits else ():
                new = bits & ~held.get(tensor, 0) & ~wanting.get(tensor, 0)
                if new:
                    wanting[tensor] = wanting.get(tensor, 0) | new
                    again = again or any(maker.id >= op.id for maker in index.makers.get(tensor, ()))
    return wanting


def _place(cut: Cut) -> object:
    return (cut.reason, cut.op.where if cut.op.where is not None else cut.op.id)


def recorded_starts(index: Index, source: Source, tape: TapeId) -> Iterator[TensorId]:
    """Where a gradient to the source could end."""
    if source.tensor is not None:
        yield source.tensor
    if source.variable is not None:
        for op in index.reads.get(source.variable, ()):
            if tape in op.tapes:
                yield from op.outputs


def _unrecorded_reads(index: Index, source: Source, tape: TapeId) -> Iterator[Cut]:
    for op in index.reads.get(source.variable, ()) if source.variable is not None else ():
        if tape not in op.tapes:
            yield Cut(op, 0, Reason.OUTSIDE)


def _frontier(
    index: Index, tape: TapeId, held: Mapping[TensorId, int], wanting: Mapping[TensorId, int], zeros: bool
) -> Iterator[tuple[Cut, int]]:
    """The closed edges from what a source reaches to what it wants, with those sources."""
    wide = index.wide_open(tape)
    for tensor, sources in held.items():
        for op, position in index.users.get(tensor, ()):
            if op.id in wide:
                continue
            reason = closed(op, position, tape, zeros=zeros)
            results: Iterable[TensorId] = index.results(op)
            if reason is None:  # of several results some may be positions
                results = (result for result in results if not index.can_carry(result))
            stopped = sources & _union(wanting, results)
            if stopped:
                yield Cut(op, position, reason or Reason.BLOCKED), stopped


def later_cuts(index: Index, request: Request, cut: Cut) -> list[Cut]:
    """Where the path from a cut to the target would be cut once more, were the first one mended."""

    def steps(tensor: TensorId) -> Iterator[tuple[Cut | None, TensorId]]:
        """Where a tensor's values go, and what cuts them there; what only integers closed, the mending opens."""
        floating = index.can_carry(tensor)
        for op, position in index.users.get(tensor, ()):
            reason = closed(op, position, request.tape)
            if reason is Reason.BLOCKED and not floating and op.kind not in _HARD:
                reason = None
            if reason is Reason.OUTSIDE and cut.reason is Reason.OUTSIDE:
                reason = None  # it moves under the tape with the rest
            for result in index.results(op):
                positions = reason is None and floating and not index.can_carry(result)
                why = Reason.BLOCKED if positions else reason
                yield (None if why is None else Cut(op, position, why)), result

    reached = _closure(
        index.results(cut.op), lambda tensor: (result for again, result in steps(tensor) if again is None)
    )
    if any(target in reached for target in request.targets):
        return []
    # Not through what is reached: a cut that only leads back there is no cause.
    wanting = _closure(request.targets, lambda tensor: (o for o in index.origins(tensor) if o not in reached))
    found: dict[object, Cut] = {}
    for again, result in (step for tensor in sorted(reached) for step in steps(tensor)):
        if again is not None and result in wanting:
            found.setdefault(_place(again), again)
    return sorted(found.values(), key=lambda each: each.op.id)


# Kinds that cut by what they do; others are cut only because an integer came in.
_HARD = frozenset({OpKind.INDEX, OpKind.COMPARE, OpKind.ROUND, OpKind.OTHER, OpKind.GRADIENT, *_BY_KIND})


def is_connected(index: Index, behind: set[TensorId], source: Source) -> bool:
    """Whether a target's value depends on the source at all."""
    return any(tensor in behind for tensor in index.starts(source))
