"""Questions to a graph: reachability and cuts. Pure functions; each is linear in the number of ops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.node import Flow, Graph, Op, OpId, OpKind, TapeId, TensorId, VariableId
from whygrad.graph.recording import Request, Source


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


class Index:
    """The edges of one graph, made once for many questions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
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
                if op.kind in (OpKind.WRITE, OpKind.STATE) and op.inputs:
                    self.writes[op.variable].append(op)
                if op.kind is not OpKind.WRITE and op.outputs:
                    self.reads[op.variable].append(op)

    def starts(self, source: Source) -> Iterator[TensorId]:
        """Where a source's values enter the graph."""
        if source.tensor is not None:
            yield source.tensor
        if source.variable is not None:
            for op in self.reads.get(source.variable, ()):
                yield from op.outputs

    def results(self, op: Op) -> Iterator[TensorId]:
        """The tensors an op's values go to; a write goes to the later reads of the variable."""
        if op.kind is OpKind.SHAPE:
            return
        yield from op.outputs
        if op.kind in (OpKind.WRITE, OpKind.STATE) and op.variable is not None:
            for read in self.reads.get(op.variable, ()):
                if read.id > op.id:
                    yield from read.outputs

    def origins(self, tensor: TensorId) -> Iterator[TensorId]:
        """The tensors a tensor's values come from."""
        for op in self.makers.get(tensor, ()):
            if op.kind is OpKind.SHAPE:
                continue
            yield from op.inputs
            if op.kind in (OpKind.READ, OpKind.STATE) and op.variable is not None:
                for write in self.writes.get(op.variable, ()):
                    if write.id < op.id:
                        yield from write.inputs

    def ahead(self, starts: Iterable[TensorId]) -> set[TensorId]:
        """Every tensor whose values depend on one of these."""
        return _closure(starts, lambda tensor: (r for op, _ in self.users.get(tensor, ()) for r in self.results(op)))

    def behind(self, ends: Iterable[TensorId]) -> set[TensorId]:
        """Every tensor that one of these depends on."""
        return _closure(ends, self.origins)

    def open_ahead(self, starts: Iterable[TensorId], tape: TapeId | None, *, zeros: bool = True) -> set[TensorId]:
        """Every tensor a gradient could come back from to one of these."""

        def step(tensor: TensorId) -> Iterator[TensorId]:
            for op, position in self.users.get(tensor, ()):
                if closed(op, position, tape, zeros=zeros) is None:
                    yield from op.outputs

        return _closure(starts, step)


    def open_behind(self, ends: Iterable[TensorId], tape: TapeId | None, *, zeros: bool = True) -> set[TensorId]:
        """Every tensor that a gradient at one of these flows on to."""

        def step(tensor: TensorId) -> Iterator[TensorId]:
            for op in self.makers.get(tensor, ()):
                for position, source in enumerate(op.inputs):
                    if closed(op, position, tape, zeros=zeros) is None:
                        yield source

        return _closure(ends, step)


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
    """Where the paths from these sources to the target stop carrying a gradient, nearest the source first."""
    wanted = tuple(sources)
    behind = index.behind(request.targets)
    starts: dict[TensorId, list[Source]] = defaultdict(list)
    for source in wanted:
        for tensor in _recorded_starts(index, source, request.tape):
            starts[tensor].append(source)
    found: dict[object, list[tuple[Cut, list[Source]]]] = defaultdict(list)
    for source in wanted:
        for cut in _unrecorded_reads(index, source, request.tape, behind):
            found[_place(cut)].append((cut, [source]))
    reached = index.open_ahead(starts, request.tape, zeros=zeros)
    by_place: dict[object, list[Cut]] = defaultdict(list)
    for cut in _frontier(index, request.tape, reached, behind, zeros):
        by_place[_place(cut)].append(cut)
    for place, cuts in by_place.items():
        ends = index.open_behind({cut.op.inputs[cut.input] for cut in cuts}, request.tape, zeros=zeros)
        hit = [source for tensor, owners in starts.items() if tensor in ends for source in owners]
        found[place].append((min(cuts, key=lambda cut: cut.op.id), hit))
    groups = [
        CutGroup(min((cut for cut, _ in items), key=lambda cut: cut.op.id), _distinct(s for _, hit in items for s in hit))
        for items in found.values()
    ]
    return sorted(groups, key=lambda group: group.cut.op.id)


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple({id(source): source for source in sources}.values())


def _place(cut: Cut) -> object:
    return (cut.reason, cut.op.where if cut.op.where is not None else cut.op.id)


def _recorded_starts(index: Index, source: Source, tape: TapeId) -> Iterator[TensorId]:
    """Where a gradient to the source could end."""
    if source.tensor is not None:
        yield source.tensor
    if source.variable is not None:
        for op in index.reads.get(source.variable, ()):
            if tape in op.tapes:
                yield from op.outputs


def _unrecorded_reads(index: Index, source: Source, tape: TapeId, behind: set[TensorId]) -> Iterator[Cut]:
    for op in index.reads.get(source.variable, ()) if source.variable is not None else ():
        if tape not in op.tapes and any(tensor in behind for tensor in op.outputs):
            yield Cut(op, 0, Reason.OUTSIDE)


def _frontier(
    index: Index, tape: TapeId, reached: set[TensorId], behind: set[TensorId], zeros: bool
) -> Iterator[Cut]:
    """The closed edges that leave the reached tensors and lead to the target."""
    for tensor in reached:
        for op, position in index.users.get(tensor, ()):
            reason = closed(op, position, tape, zeros=zeros)
            if reason is None or op.kind is OpKind.SHAPE:
                continue
            if any(result in behind and result not in reached for result in index.results(op)):
                yield Cut(op, position, reason)


def later_cuts(index: Index, request: Request, cut: Cut) -> list[Cut]:
    """Where the path from a cut to the target would be cut once more, were the first one mended."""

    def shut(op: Op, position: int) -> Reason | None:
        reason = closed(op, position, request.tape)
        tensor = index.graph.tensors.get(op.inputs[position])
        mended = reason is Reason.BLOCKED and op.kind not in _HARD and tensor is not None and not tensor.is_floating
        return None if mended else reason

    def step(tensor: TensorId) -> Iterator[TensorId]:
        for op, position in index.users.get(tensor, ()):
            if shut(op, position) is None:
                yield from index.results(op)

    reached = _closure(index.results(cut.op), step)
    if any(target in reached for target in request.targets):
        return []
    behind = index.behind(request.targets)
    found: dict[object, Cut] = {}
    for tensor in reached:
        for op, position in index.users.get(tensor, ()):
            reason = shut(op, position)
            if reason is not None and any(result in behind for result in index.results(op)):
                each = Cut(op, position, reason)
                found.setdefault(_place(each), each)
    return sorted(found.values(), key=lambda each: each.op.id)


# Kinds that cut by what they do; others are cut only because an integer came in.
_HARD = frozenset({OpKind.INDEX, OpKind.COMPARE, OpKind.ROUND, OpKind.OTHER, OpKind.GRADIENT, *_BY_KIND})


def is_connected(index: Index, behind: set[TensorId], source: Source) -> bool:
    """Whether a target's value depends on the source at all."""
    return any(tensor in behind for tensor in index.starts(source))
