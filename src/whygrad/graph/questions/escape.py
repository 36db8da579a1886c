"""Values that left the framework and came back: tied together by order in time and by the code between them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from whygrad.graph.node import Departure, Flow, Graph, Op, OpId, OpKind, TensorId
from whygrad.graph.questions.query import Index, index_of
from whygrad.graph.questions.terms import terms_of
from whygrad.graph.recording import ABSENT, Recording, Request, Source
from whygrad.source import SourceSpan
from whygrad.source.module import module_of
from whygrad.source.slicing import code_tells, copies_weights, exits, feeding_lines, in_order, nobody_keeps, taken_by

_Line = tuple[str, int]
_SOON = 2  # moments after which a value that came in is not taken for the one that just left
_UNSEEN = 10**12  # the moment of what was not seen to come in, as a target that no op made


_cache: weakref.WeakKeyDictionary[Recording, Recording] = weakref.WeakKeyDictionary()


def with_escapes(recording: Recording) -> Recording:
    """The recording with an inferred FOREIGN op for each source that reaches its targets only through Python.

    Found once for all who ask.
    """
    known = _cache.get(recording)
    if known is None:
        known = replace(recording, requests=tuple(_with_escapes(request) for request in recording.requests))
        _cache[recording] = known
    return known


def _with_escapes(request: Request) -> Request:
    graph, index = request.graph, index_of(request.graph)
    added: list[Op] = []
    stopped = {tensor for op in graph.ops if op.kind is OpKind.STOP for tensor in op.outputs}  # on purpose
    leaves: dict[tuple[TensorId, ...], list[Op]] = {}
    before_stops: dict[tuple[TensorId, ...], set[TensorId]] = {}
    for source, targets, is_lost, unseen in _unlinked(request, index):
        starts, behind = set(index.starts(source)), index.behind(targets)
        if targets not in before_stops:
            before_stops[targets] = index.behind_to(targets, stopped) if stopped else behind
        is_stopped = is_lost and bool(starts & behind) and starts.isdisjoint(before_stops[targets])
        must_be_seen = is_stopped or not (is_lost or unseen)
        if not starts or (starts & behind and not is_stopped) or (must_be_seen and not graph.departures):
            continue
        if targets not in leaves:
            leaves[targets] = list(_leaves(request, index, behind))
        search = _Search(request, index, leaves[targets], index.ahead(starts))
        link = search.link() if is_lost and not is_stopped else search.link_under_tape(unseen=unseen)
        if link is not None and all(op.where != link.where or op.inputs != link.inputs for op in added):
            added.append(replace(link, id=OpId(len(graph.ops) + len(added) + 1)))
    return replace(request, graph=replace(graph, ops=(*graph.ops, *added))) if added else request


def _unlinked(request: Request, index: Index) -> Iterator[tuple[Source, tuple[TensorId, ...], bool, bool]]:
    """Sources, and targets that they may have got to through Python; whether no other way trains them, and whether they
    may have got there unseen."""
    there: list[Source] = []
    for source in request.sources:
        if request.zeros_given or source.outcome in ABSENT:
            yield source, request.targets, True, True
        else:
            there.append(source)
    terms = terms_of(request)
    if not there or not terms.all:
        return
    apart = set(_apart(request, index))
    left = [d.tensor for d in request.graph.departures if d.tensor is not None]
    left = [t for t in left if any(request.tape in op.tapes for op in index.makers.get(t, ()))]
    leaving = index.behind(left)
    for source in there:
        if terms.is_only_penalised(source):
            yield source, terms.beside_penalties, terms.has_data, False
            continue
        is_leaving = not leaving.isdisjoint(index.starts(source))
        for tensor in terms.beside_penalties if is_leaving or apart else ():
            if is_leaving or tensor in apart:
                yield source, (tensor,), False, tensor in apart


def _apart(request: Request, index: Index) -> Iterator[TensorId]:
    """The terms that depend on nothing that was asked for, but on something that the code hands to NumPy."""
    terms = terms_of(request)
    for tensor in () if request.compiled else terms.beside_penalties:
        behind = index.behind((tensor,))
        if all(behind.isdisjoint(index.starts(source)) for source in request.sources):
            came = [leaf.where for leaf in _leaves(request, index, behind) if leaf.where is not None]
            if any(way_out.is_of_arrays for where in came for way_out in exits(where)):
                yield tensor


def _leaves(request: Request, index: Index, behind: set[TensorId]) -> Iterator[Op]:
    """What came in from outside and the targets depend on; a bare target is fed by the request's own expression."""
    for op in request.graph.ops:
        if op.kind is OpKind.CONSTANT and not op.inputs and op.outputs and op.outputs[0] in behind:
            yield op
    for target in request.targets:
        if not index.makers.get(target):
            kind = OpKind.CONSTANT
            yield Op(id=OpId(0), kind=kind, name="", inputs=(), outputs=(target,), flows=(), where=request.where)


@dataclass(slots=True)
class _Search:
    """How a source's values may have got to the targets of a request that no op leads to."""

    request: Request
    index: Index
    leaves: list[Op]
    ahead: set[TensorId]  # what depends on the source
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.graph = self.request.graph

    def link(self) -> Op | None:
        """What the tape recorded is cut off there, rather than what was computed before."""
        looks, before = (self._by_departure, self._by_argument, self._by_code), None
        for op in (op for look in looks for op in look()):
            if self._is_recorded(op.inputs[0]):
                return op
            before = before or op
        return before or next(self._by_time(), None)

    def link_under_tape(self, *, unseen: bool) -> Op | None:
        """Only where a value that the tape recorded was seen leaving: what left before is data by now.

        `unseen`: or where NumPy was handed such a value, by the code.
        """
        looks = (self._by_departure, self._by_argument) if unseen else (self._by_departure,)
        seen = [op for look in looks for op in look() if self._is_recorded(op.inputs[0])]
        seen = [op for op in seen if self.index.tensors[op.outputs[0]].is_floating]
        return min(seen, key=lambda op: not self._keeps_shape(op), default=None)

    def _keeps_shape(self, link: Op) -> bool:
        left, came = (self.index.tensors[tensor].shape for tensor in (link.inputs[0], link.outputs[0]))
        return left == came

    def _is_recorded(self, tensor: TensorId) -> bool:
        return any(self.request.tape in op.tapes for op in self.index.makers.get(tensor, ()))

    def _departures(self) -> Iterator[tuple[Departure, TensorId]]:
        """What left and depends on the source, the last first."""
        for departure in reversed(self.graph.departures):
            if departure.tensor is None or departure.tensor not in self.ahead:
                continue
            if self._is_recorded(departure.tensor) or not copies_weights(departure.where):
                yield departure, departure.tensor

    def _by_departure(self) -> Iterator[Op]:
        """A tensor was seen leaving, and its line is among those that feed what came in next."""
        for departure, tensor in self._departures():
            for leaf in self._after(departure):
                left = departure.where.file, departure.where.line
                if leaf.where is not None and left in feeding_lines(leaf.where):
                    yield _foreign(departure.how, tensor, leaf, departure.where)

    def _after(self, departure: Departure) -> list[Op]:
        """What came in after a departure, soonest first."""
        return [leaf for leaf in sorted(self.leaves, key=self._moment) if self._moment(leaf) >= departure.moment]

    def _moment(self, leaf: Op) -> int:
        return self.graph.entered.get(leaf.outputs[0], _UNSEEN)

    def _by_time(self) -> Iterator[Op]:
        """A whole tensor left under the tape, and the very next value that came in is one the loss depends on.

        Not where the code itself says that the one does not feed the other.
        """
        for departure, tensor in self._departures():
            facts = self.index.tensors.get(tensor)
            if facts is None or not facts.shape or not self._is_recorded(tensor):
                continue
            for leaf in self._after(departure)[:1]:
                told_by_code = leaf.where is not None and code_tells(departure.where, leaf.where)
                if not told_by_code and self._moment(leaf) <= departure.moment + _SOON:
                    yield _foreign(departure.how, tensor, leaf, departure.where)

    def _by_code(self) -> Iterator[Op]:
        """NumPy read the tensor's memory unseen; the code that feeds what came in shows the call.

        A call that tensors were seen to leave by is no such thing: those that matter here were looked at before. Nor
        has a tensor any memory to read while a function is traced.
        """
        if self.request.compiled and any(map(self._is_recorded, self.ahead)):
            return
        lines, cleared = self._lines(), self._cleared()
        modules = {module_of(file) for file, _ in lines}
        for leaf in self.leaves:
            if leaf.where is None or module_of(leaf.where.file) not in modules:
                continue
            for way_out in exits(leaf.where):
                fed = [lines[line] for line in way_out.feeding if line in lines]
                fed = fed or [lines[line] for line in in_order(feeding_lines(way_out.statement)) if line in lines]
                if fed and (way_out.span.file, way_out.span.line) not in cleared:
                    yield _foreign(way_out.how, fed[-1], leaf, way_out.span)

    def _by_argument(self) -> Iterator[Op]:
        """NumPy read the memory of a tensor unseen: the code shows a call, and that it is given the tensor."""
        made = [op for op in self.graph.ops if self.request.tape in op.tapes and not self.ahead.isdisjoint(op.outputs)]
        made = [] if self.request.compiled else made  # a tensor has no memory to read while a function is traced
        cleared = set(_lines_in(departure.where for departure in self.graph.departures))
        for leaf in self.leaves if made else ():
            used = min((user.id for user, _ in self.index.users.get(leaf.outputs[0], ())), default=0)
            for way_out in exits(leaf.where) if leaf.where is not None else ():
                if way_out.is_of_arrays and (way_out.span.file, way_out.span.line) not in cleared:
                    parts = taken_by(way_out.span)
                    fed = [op for op in made if op.id < used and self._is_made_in(op, parts)]
                    tensors = [t for op in fed[-1:] for t in op.outputs if t in self.ahead]
                    yield from (_foreign(way_out.how, tensor, leaf, way_out.span) for tensor in tensors)

    def _is_made_in(self, op: Op, parts: list[SourceSpan]) -> bool:
        return any(part.holds(place) for place in self._places(op) if place is not None for part in parts)

    def _places(self, op: Op) -> tuple[SourceSpan | None, ...]:
        """A network computes where it was called, wherever its layers are shown."""
        return (op.where, *(place for layer in op.layers[:1] for place in self.graph.called.get(layer, ())))

    def _lines(self) -> dict[_Line, TensorId]:
        """The lines that compute something of the source, under the tape if any do, and what the last op of each made.

        What is thrown away goes nowhere.
        """
        made = [op for op in self.graph.ops if op.where is not None and not self.ahead.isdisjoint(op.outputs)]
        gone = {where for where in dict.fromkeys(op.where for op in made) if where is None or nobody_keeps(where)}
        made = [op for op in made if op.where not in gone]
        under_tape = [op for op in made if self.request.tape in op.tapes]
        lines = dict[_Line, TensorId]()
        for op in under_tape or made:
            tensor = next(tensor for tensor in op.outputs if tensor in self.ahead)
            lines.update((line, tensor) for line in _lines_in(self._places(op)))
        return lines

    def _cleared(self) -> set[_Line]:
        """The lines by which tensors were seen to leave, but none of those that matter."""
        ours = [departure.where for departure, _ in self._departures()]
        return set(_lines_in(departure.where for departure in self.graph.departures)) - set(_lines_in(ours))


def _lines_in(places: Iterable[SourceSpan | None]) -> Iterator[_Line]:
    for where in places:
        if where is not None:
            yield from ((where.file, line) for line in range(where.line, where.last_line + 1))


def places_left(request: Request, sources: Iterable[Source], link: Op) -> tuple[SourceSpan, ...]:
    """Where values of these sources leave on the way to what a link gives back: its own place, then the others seen."""
    index = index_of(request.graph)
    ahead = index.ahead({start for source in sources for start in index.starts(source)})
    makers = [op for op in index.makers.get(link.outputs[0], ()) if op.kind is OpKind.CONSTANT]
    came = [op.where for op in makers] or [request.where]
    feeding = {line for where in came if where is not None for line in feeding_lines(where)}
    recorded = {tensor for op in index.ops if request.tape in op.tapes for tensor in op.outputs}
    if not recorded.isdisjoint(link.inputs):  # then what left in an earlier pass is not on the way
        ahead &= recorded
    seen = [left.where for left in request.graph.departures if link.inferred and left.tensor in ahead]
    own = () if link.where is None else (link.where,)
    return tuple(dict.fromkeys((*own, *(where for where in seen if (where.file, where.line) in feeding))))


def _foreign(how: str, tensor: TensorId, leaf: Op, where: SourceSpan) -> Op:
    return Op(
        id=OpId(0),
        kind=OpKind.FOREIGN,
        name=how,
        inputs=(tensor,),
        outputs=leaf.outputs,
        flows=(Flow.BLOCKED,),
        where=where,
        inferred=True,
    )
