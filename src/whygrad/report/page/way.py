"""The way from a variable to the loss as boxes and arrows: where the gradient comes, where it is cut."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from whygrad.graph.node import Op, OpId, OpKind, TensorId
from whygrad.graph.questions.query import Index, Reason, closed, cut_groups, index_of, later_cuts
from whygrad.graph.recording import Request, Source

_MOST_BOXES: Final = 160  # that a person may want to look at; a longer way is folded by layers
_LONG_STRETCH: Final = 6  # boxes in a row of which nothing is to be said
_MOST_OPS: Final = 20_000

Key = tuple[object, ...] | None
State = str  # start, loss, carries, cut, zero, silent, aside


@dataclass(frozen=True, slots=True)
class Box:
    """Ops that are drawn as one, in the order they ran."""

    ops: tuple[Op, ...]
    state: State
    reason: Reason | None = None  # why the gradient ends here
    folded: bool = False  # a long stretch, or a layer


@dataclass(frozen=True, slots=True)
class Arrow:
    """Values go from one box to another; `open`: a gradient comes back this way."""

    start: int
    end: int
    open: bool


@dataclass(frozen=True, slots=True)
class Way:
    """Boxes in the order they ran. Not `connected`: the loss does not depend on the variable, and its way ends."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    connected: bool
    truncated: bool = False


def way_of(request: Request, source: Source, *, folded: bool = True) -> Way:
    """The ops between a source and what was differentiated."""
    index = index_of(request.graph)
    starts = set(index.starts(source))
    ahead, behind = index.ahead(starts), index.behind(request.targets)
    connected = not starts.isdisjoint(behind)
    between = ahead & behind if connected else ahead
    ops = [op for op in index.ops if _is_between(index, op, source, starts, between)]
    truncated = len(ops) > _MOST_OPS
    ops = ops[:_MOST_OPS]
    drawing = _Drawing(request, source, ops, between, starts)
    boxes, arrows = drawing.folded() if folded else drawing.drawn(lambda _: None)
    return Way(tuple(boxes), tuple(arrows), connected, truncated)


def _is_between(index: Index, op: Op, source: Source, starts: set[TensorId], between: set[TensorId]) -> bool:
    if not any(tensor in between for tensor in index.results(op)):
        return False
    is_read = op.variable is not None and op.variable == source.variable and not starts.isdisjoint(op.outputs)
    return is_read or not between.isdisjoint(op.inputs)


class _Drawing:
    """One way while it is being folded."""

    def __init__(
        self, request: Request, source: Source, ops: list[Op], between: set[TensorId], starts: set[TensorId]
    ) -> None:
        index = index_of(request.graph)
        self._index, self._tape, self._ops = index, request.tape, ops
        self._between, self._targets = between, set(request.targets)
        self._arrived = index.open_behind(request.targets, self._tape, zeros=False)
        self._cuts = set() if not self._arrived.isdisjoint(starts) else _places(index, request, source)
        self._states = {op.id: self._state(op) for op in ops}
        self._edges = self._all_edges()

    def folded(self) -> tuple[list[Box], list[Arrow]]:
        """By the user's expression; where that is still too much, by layer; then what is long and uneventful."""
        boxes, arrows = self.drawn(lambda op: (op.where, op.layers))
        if len(boxes) > _MOST_BOXES:
            boxes, arrows = self.drawn(lambda op: op.layers[:1] or (op.where,))
        return _without_stretches(boxes, arrows)

    def _state(self, op: Op) -> tuple[State, Reason | None]:
        is_read = op.kind is OpKind.READ and not op.inputs
        reason = Reason.OUTSIDE if is_read and self._tape not in op.tapes else self._reason(op)
        if reason is not None and (reason, op.where or op.id) in self._cuts:
            return ("zero" if reason is Reason.ZERO else "cut"), reason
        if not self._targets.isdisjoint(op.outputs):
            return "loss", None
        if is_read:
            return "start", None
        if reason is not None:
            return "aside", reason
        arrives = any(t in self._arrived and self._index.can_carry(t) for t in op.outputs)
        return ("carries" if arrives else "silent"), None

    def _reason(self, op: Op) -> Reason | None:
        """Why nothing comes back through the inputs that lie on the way; None: it does through one of them."""
        found: Reason | None = None
        for position, tensor in enumerate(op.inputs):
            if tensor in self._between:
                reason = self._closed(op, position)
                if reason is None:
                    return None
                found = found or reason
        return found

    def _closed(self, op: Op, position: int) -> Reason | None:
        reason = closed(op, position, self._tape, zeros=False)
        if reason is None and op.outputs and not any(map(self._index.can_carry, op.outputs)):
            return Reason.BLOCKED  # whole numbers and truth values
        return reason

    def _all_edges(self) -> list[tuple[OpId, OpId, bool]]:
        drawn = {op.id for op in self._ops}
        found = []
        for op in self._ops:
            for tensor in self._index.results(op):
                for user, position in self._index.users.get(tensor, ()) if tensor in self._between else ():
                    if user.id in drawn:
                        arrives = any(t in self._arrived for t in user.outputs)
                        found.append((op.id, user.id, arrives and self._closed(user, position) is None))
        return found

    def drawn(self, key: Callable[[Op], Key]) -> tuple[list[Box], list[Arrow]]:
        """Connected ops of one key and one state become one box."""
        keys = {op.id: self._key(op, key) for op in self._ops}
        groups = {op.id: op.id for op in self._ops}

        def root(number: OpId) -> OpId:
            while groups[number] != number:
                groups[number] = groups[groups[number]]
                number = groups[number]
            return number

        for one, other, _ in self._edges:
            if keys[one] is not None and keys[one] == keys[other]:
                first, second = sorted((root(one), root(other)))
                groups[second] = first
        members: dict[OpId, list[Op]] = defaultdict(list)
        for op in self._ops:
            members[root(op.id)].append(op)
        links: dict[tuple[OpId, OpId], bool] = {}
        for one, other, is_open in self._edges:
            ends = root(one), root(other)
            if ends[0] != ends[1]:
                links[ends] = links.get(ends, False) or is_open
        order = {number: place for place, number in enumerate(_in_order(sorted(members), links))}
        boxes = [Box(tuple(members[number]), *self._states[members[number][0].id]) for number in order]
        return boxes, [Arrow(order[one], order[other], is_open) for (one, other), is_open in links.items()]

    def _key(self, op: Op, key: Callable[[Op], Key]) -> Key:
        state, _ = self._states[op.id]
        given = key(op) if state in ("carries", "silent") else None
        return None if given is None else (state, *given)


def _places(index: Index, request: Request, source: Source) -> set[tuple[Reason, object]]:
    """Where the way is cut, and where it would be once more if that were mended."""
    groups = cut_groups(index, request, [source], zeros=False)
    cuts = [again for group in groups for again in (group.cut, *later_cuts(index, request, group.cut))]
    return {(cut.reason, cut.op.where or cut.op.id) for cut in cuts}


def _in_order(numbers: list[OpId], links: Iterable[tuple[OpId, OpId]]) -> list[OpId]:
    """What feeds another comes first, and else what ran first: ops that are only concluded have late numbers."""
    after, waiting = defaultdict[OpId, list[OpId]](list), dict.fromkeys(numbers, 0)
    for one, other in links:
        after[one].append(other)
        waiting[other] += 1
    ready = [number for number in numbers if not waiting[number]]
    heapq.heapify(ready)
    found: dict[OpId, None] = {}
    while ready or len(found) < len(numbers):
        number = heapq.heappop(ready) if ready else next(n for n in numbers if n not in found)  # the latter: a loop
        if number in found:
            continue
        found[number] = None
        for other in after[number]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, other)
    return list(found)


def _without_stretches(boxes: list[Box], arrows: list[Arrow]) -> tuple[list[Box], list[Arrow]]:
    """Fold the middle of every long row of boxes that have one neighbour on each side and one state."""
    after, before = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for arrow in arrows:
        after[arrow.start].append(arrow.end)
        before[arrow.end].append(arrow.start)
    home = list(range(len(boxes)))
    for stretch in _stretches(boxes, after, before):
        for number in stretch[2:-1]:
            home[number] = stretch[1]
    if home == list(range(len(boxes))):
        return boxes, arrows
    kept = sorted(set(home))
    order = {number: place for place, number in enumerate(kept)}
    found = []
    for number in kept:
        inside = [box for place, box in enumerate(boxes) if home[place] == number]
        ops = tuple(op for box in inside for op in box.ops)
        found.append(Box(ops, boxes[number].state, boxes[number].reason, len(inside) > 1))
    drawn = {(order[home[a.start]], order[home[a.end]]): a.open for a in arrows if home[a.start] != home[a.end]}
    return found, [Arrow(*ends, is_open) for ends, is_open in drawn.items()]


def _stretches(boxes: list[Box], after: dict[int, list[int]], before: dict[int, list[int]]) -> Iterator[list[int]]:
    def is_plain(number: int) -> bool:
        single = len(after[number]) == 1 and len(before[number]) == 1
        return single and boxes[number].state in ("carries", "silent")

    seen: set[int] = set()
    for number in range(len(boxes)):
        if number in seen or not is_plain(number):
            continue
        stretch = [number]
        while is_plain(after[stretch[-1]][0]) and boxes[after[stretch[-1]][0]].state == boxes[number].state:
            if after[stretch[-1]][0] in stretch:  # a loop
                break
            stretch.append(after[stretch[-1]][0])
        seen.update(stretch)
        if len(stretch) > _LONG_STRETCH:
            yield stretch
