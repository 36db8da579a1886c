"""The terms that a loss is the sum of, and which sources each of them depends on and trains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from whygrad.graph.node import Action, Graph, Op, OpKind, Tensor, TensorId, VariableId
from whygrad.graph.questions.query import Index, index_of, recorded_starts
from whygrad.graph.questions.zeros import TOTALS
from whygrad.graph.recording import Request, Source
from whygrad.source import SourceSpan

_SUMS: Final = (Action.ADD, Action.SUBTRACT)
_FIRST: Final = (*TOTALS, Action.NEGATE, Action.IDENTITY, Action.PASS_ON, Action.RESHAPE, Action.CONVERT)
_QUOTIENTS: Final = (Action.DIVIDE, Action.DIVIDE_NO_NAN)
_OUTSIDE: Final = (OpKind.NOISE, OpKind.SAMPLE, OpKind.STATE, OpKind.FOREIGN)  # values that no weight alone decides
_COMPARING: Final = (Action.SUBTRACT, Action.SQUARED_DIFFERENCE, Action.MULTIPLY, *_QUOTIENTS)
_MOST_TERMS: Final = 400
_MOST_ENDS: Final = 8
_MOST_AXES: Final = 8  # an integer vector that is longer holds data, not axes or a shape


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of what was differentiated."""

    tensor: TensorId
    where: SourceSpan | None
    is_penalty: bool  # a function of weights alone
    is_fit: bool  # data comes in after the network: labels, targets, rewards
    part_of: TensorId  # the summand that it stands in, as the user added them up
    whole: SourceSpan | None  # where that was made


class Terms:
    """The terms of one request, and what they reach."""

    def __init__(self, index: Index, request: Request) -> None:
        self._index, self._tape = index, request.tape
        self.all: tuple[Term, ...] = ()
        self._starts = starts = {start for source in request.sources for start in index.starts(source)}
        looked_up = {t for op in index.ops if op.kind is OpKind.READ and op.inputs for t in op.outputs}
        self._weights = starts - looked_up
        self._dependent = index.ahead(starts)
        wholes = [t for target in request.targets for t in _split(index, target, self._dependent, totals=False)]
        parts = {t: whole for whole in wholes for t in _split(index, whole, self._dependent)}
        if not 1 < len(parts) <= _MOST_TERMS:
            return
        outside = dict(self._outside())
        self._data = set(outside)
        self._given = index.ahead(t for t, noise in outside.items() if not noise) - self._dependent
        self._trainable = index.open_ahead(starts, self._tape, zeros=False)
        self._ends = self._network_ends()
        self._behind = index.behind(request.targets)
        self.all = tuple(self._term(tensor, whole) for tensor, whole in parts.items())

    def trains(self, term: Term, source: Source) -> bool:
        """Whether a gradient of the term comes to the source."""
        return not self._trained_by(term.tensor).isdisjoint(recorded_starts(self._index, source, self._tape))

    def trains_any(self, term: Term, others: Set[VariableId] = frozenset()) -> bool:
        """Whether a gradient of the term comes to any source, or to one of these other variables."""
        reached = self._trained_by(term.tensor)
        reads = (op for tensor in reached for op in self._index.makers.get(tensor, ()) if op.kind is OpKind.READ)
        return not reached.isdisjoint(self._starts) or any(op.variable in others for op in reads)

    def depends(self, term: Term, source: Source) -> bool:
        """Whether the value of the term depends on the source, whatever is on the way."""
        return not self._index.behind((term.tensor,)).isdisjoint(self._index.starts(source))

    def training(self, source: Source) -> tuple[Term, ...]:
        return tuple(term for term in self.all if self.trains(term, source))

    def is_only_penalised(self, source: Source) -> bool:
        """Whether all that trains a source are penalties on weights, beside terms of another kind."""
        training = self.training(source)
        return bool(training) and all(t.is_penalty for t in training) and not all(t.is_penalty for t in self.all)

    def is_left_to_penalties(self, source: Source) -> bool:
        """Whether the pass computes something with a source that reaches no term: only penalties move it."""
        if not self.is_only_penalised(source) or any(self.depends(t, source) for t in self.all if not t.is_penalty):
            return False
        starts = recorded_starts(self._index, source, self._tape)
        return any(start not in self._behind and self._index.users.get(start) for start in starts)

    def shown(self, terms: Iterable[Term], sources: Iterable[Source]) -> dict[SourceSpan | None, list[Term]]:
        """Terms by the expression to show for them: the user's summand, where all of it that matters is among them."""
        found: dict[SourceSpan | None, list[Term]] = {}
        wanted, asked = list(terms), list(sources)
        for term in wanted:
            found.setdefault(term.whole if self._is_whole(term, wanted, asked) else term.where, []).append(term)
        return found

    def _is_whole(self, term: Term, among: list[Term], sources: list[Source]) -> bool:
        related = [t for t in self.all if t.part_of == term.part_of and any(self.depends(t, s) for s in sources)]
        return all(each in among for each in related) and len({t.part_of for t in self.all}) > 1

    def measurable(self, group: list[Term], sources: Iterable[Source]) -> list[TensorId] | None:
        """The tensors whose gradients are what a group gives; None where one of them enters the loss otherwise, too."""
        asked, found = list(sources), dict[TensorId, None]()
        for term in group:
            whole = self._is_whole(term, group, asked)
            users = {
                op.id for op, _ in self._index.users.get(term.tensor, ()) if not self._behind.isdisjoint(op.outputs)
            }
            if not whole and len(users) > 1:
                return None
            found[term.part_of if whole else term.tensor] = None
        return list(found)

    def groups(self, sources: Iterable[Source]) -> list[tuple[SourceSpan | None, list[Term]]]:
        """The terms as a table shows them: by expression, and all penalties on weights together."""
        penalties = [term for term in self.all if term.is_penalty]
        others = [term for term in self.all if not term.is_penalty and term.tensor in self._dependent]
        found = [*self.shown(others, sources).items()]
        return [*found, (penalties[0].whole, penalties)] if penalties else found

    @property
    def has_data(self) -> bool:
        """Whether anything but weights and numbers enters the terms."""
        return any(not self._data.isdisjoint(self._index.behind_to((t.tensor,), self._starts)) for t in self.all)

    @property
    def beside_penalties(self) -> tuple[TensorId, ...]:
        return tuple(term.tensor for term in self.all if not term.is_penalty)

    def stands_in_for(self, other: Term, op: Op, term: Term) -> bool:
        """Whether another term makes up for what an op cuts off: it weighs the score of a draw with what came of it, or
        the term itself only corrects the value of the other, as straight-through ways do."""
        if other.part_of == term.part_of and any(
            self._stopped(each) == other.tensor for each in self.all if each.part_of == term.part_of
        ):
            return True  # `hard + (soft - stop(soft))`
        behind = self._index.behind((term.tensor,))
        if self._stopped(term) is not None and other.tensor in behind:
            return True  # `soft + stop(hard - soft)`
        onwards = self._index.ahead(self._index.results(op)) & behind
        return not onwards.isdisjoint(self._index.behind((other.tensor,)))

    def is_meant_as_number(self, term: Term, training: Iterable[Term]) -> bool:
        """Whether a term that trains nothing is only to move or to show the value of the loss.

        It is stopped as a whole, weighed with zero, one side of a difference, a part of a summand that trains, or made
        by the expression that makes one that does.
        """
        if self._stopped(term) is not None or any(op.blank for op in self._scaled(term)):
            return True
        if any(op.action is Action.SUBTRACT for op, _ in self._index.users.get(term.tensor, ())):
            return True
        return any(
            each.part_of == term.part_of or (each.where is not None and each.where == term.where) for each in training
        )

    def _stopped(self, term: Term) -> TensorId | None:
        """What a term is the stopped value of."""
        return next((op.inputs[0] for op in self._scaled(term) if op.kind is OpKind.STOP), None)

    def _scaled(self, term: Term) -> Iterator[Op]:
        """What made a term, and what made that, as long as it is only scaled or handed on."""
        parts, seen = [term.tensor], set[TensorId]()
        while len(parts) == 1 and parts[0] not in seen:
            seen.add(parts[0])
            makers = self._index.makers.get(parts[0], ())
            yield from makers
            parts = [part for op in makers for part in _parts(self._index, op, self._dependent)]

    def goes_through_a_layer(self, op: Op, term: Term, *, picking: bool) -> bool:
        """Whether the result of an op goes on to the term through a product with weights that were asked for.

        Not `picking`: as it is, neither as a choice among rows nor beside a value that a gradient comes back from.
        """
        index, behind = self._index, self._index.behind((term.tensor,))
        seen = set(index.results(op))
        todo = list(seen)
        while todo:
            tensor = todo.pop()
            for user, position in index.users.get(tensor, ()):
                if behind.isdisjoint(user.outputs) or not self._goes_on(tensor, user, position):
                    continue
                others = [each for i, each in enumerate(user.inputs) if i != position]
                if _is_product(user) and any(self._is_weight(each) for each in others):
                    return True
                if not picking and (user.kind is OpKind.ONE_HOT or not self._trainable.isdisjoint(others)):
                    continue
                todo.extend(each for each in user.outputs if each not in seen)
                seen.update(user.outputs)
        return False

    def _goes_on(self, tensor: TensorId, user: Op, position: int) -> bool:
        """Not as a position or a size: what an integer picks, it does not become."""
        if user.kind in (OpKind.SHAPE, OpKind.WRITE, OpKind.READ):
            return False
        return self._index.can_carry(tensor) or position == 0

    def _is_weight(self, tensor: TensorId) -> bool:
        """What a variable that was asked for holds, as it is or turned; not rows of it that were looked up."""
        for op in self._index.makers.get(tensor, ()):
            if op.kind in (OpKind.MOVE, OpKind.CAST) and op.inputs:
                return self._is_weight(op.inputs[0])
            if op.kind is OpKind.READ:
                return tensor in self._weights
        return False

    def _trained_by(self, tensor: TensorId) -> set[TensorId]:
        return self._index.open_behind((tensor,), self._tape, zeros=False)

    def _term(self, tensor: TensorId, whole: TensorId) -> Term:
        penalty, fit = self._is_penalty(tensor), self._is_fit(tensor)
        return Term(tensor, self._where(tensor), penalty, fit, part_of=whole, whole=self._where(whole))

    def _where(self, tensor: TensorId) -> SourceSpan | None:
        """Where it was made; of what left and came back, where it left: it came in within one that adds it."""
        makers = [op for op in self._index.makers.get(tensor, ()) if op.where is not None]
        return min(makers, key=lambda op: op.kind is OpKind.CONSTANT).where if makers else None

    def _is_penalty(self, tensor: TensorId) -> bool:
        """What a weight was made from, before it was read, does not matter.

        What trains nothing penalises nothing, where inputs come in that the program made up itself: a grid, ones.
        """
        behind = self._index.behind_to((tensor,), self._starts)
        if self._trained_by(tensor).isdisjoint(self._starts) and any(map(self._is_made_up, behind)):
            return False
        weights = behind & self._starts
        makers = self._index.makers
        is_chosen = any(self._is_lookup(op) for each in behind for op in makers.get(each, ()))
        return bool(weights) and behind.isdisjoint(self._data) and not is_chosen

    def _is_made_up(self, tensor: TensorId) -> bool:
        is_constant = any(op.kind is OpKind.CONSTANT for op in self._index.makers.get(tensor, ()))
        return is_constant and _is_large(self._index.tensors.get(tensor))

    def _is_lookup(self, op: Op) -> bool:
        """Rows of a weight, chosen by a few integers: data, however few they are."""
        if op.kind is OpKind.READ:
            return bool(op.inputs)
        if op.action is not Action.SPLIT or len(op.inputs) < 2 or op.inputs[0] not in self._dependent:
            return False
        rows, chosen, result = (self._index.tensors.get(each) for each in (*op.inputs[:2], op.outputs[0]))
        if rows is None or chosen is None or result is None or not rows.shape or chosen.shape is None:
            return False
        return chosen.shape not in ((), (1,)) and result.shape == (*chosen.shape, *rows.shape[1:])

    def _is_fit(self, tensor: TensorId) -> bool:
        """Looks from the term back to where the network ends: products of matrices, and reads of weights."""
        seen, todo = {tensor}, [tensor]
        while todo:
            for op in self._index.makers.get(todo.pop(), ()):
                if self._compares(op):
                    return True
                if op.kind is not OpKind.SHAPE and not self._is_of_network(op):
                    todo.extend(each for each in op.inputs if each not in seen)
                    seen.update(op.inputs)
        return False

    def _compares(self, op: Op) -> bool:
        """With data, or two results of networks with one another."""
        if op.kind is OpKind.CROSS_ENTROPY:
            return True
        inputs = [each for each in op.inputs if each in self._dependent]
        if op.kind is OpKind.CONTRACT:
            return len(inputs) > 1 and not any(self._is_weight(each) for each in inputs)
        if self._is_of_network(op) or op.kind is OpKind.SHAPE:
            return False
        if not self._given.isdisjoint(op.inputs):
            return True
        ends = [self._ends.get(each, frozenset()) for each in inputs]
        return op.action in _COMPARING and len(ends) == 2 and all(ends) and ends[0].isdisjoint(ends[1])

    def _is_of_network(self, op: Op) -> bool:
        """Brings in a weight; rows of one are brought in where they are looked up."""
        return op.kind is OpKind.CONTRACT or not (
            self._starts.isdisjoint(op.outputs) and self._weights.isdisjoint(op.inputs)
        )

    def _network_ends(self) -> dict[TensorId, frozenset[TensorId]]:
        """For each tensor the results of networks that it was computed from; a few of them."""
        ends: dict[TensorId, frozenset[TensorId]] = {}
        for op in self._index.ops:
            if op.kind is OpKind.SHAPE:
                continue
            own = self._is_of_network(op)
            taken = frozenset(end for tensor in op.inputs for end in ends.get(tensor, ()))
            for tensor in op.outputs:
                ends[tensor] = frozenset((tensor,)) if own else taken if len(taken) <= _MOST_ENDS else frozenset()
        return ends

    def _outside(self) -> Iterator[tuple[TensorId, bool]]:
        """The tensors that bring something in that no weight decides, and whether it is noise of this very pass."""
        index = self._index
        for tensor in {*index.makers, *index.users} - self._starts:
            makers = index.makers.get(tensor, ())
            kinds = {op.kind for op in makers}
            is_leaf = all(op.kind is OpKind.READ or (op.kind is OpKind.CONSTANT and not op.inputs) for op in makers)
            if not kinds.isdisjoint(_OUTSIDE) or (is_leaf and _is_large(index.tensors.get(tensor))):
                yield tensor, any(op.kind is OpKind.NOISE and self._tape in op.tapes for op in makers)


def _is_large(tensor: Tensor | None) -> bool:
    """More than a number, and more than axes or a shape."""
    if tensor is None or tensor.shape is None or tensor.is_opaque:
        return True
    if tensor.is_floating:
        return tensor.shape != ()
    return len(tensor.shape) > 1 or (len(tensor.shape) == 1 and (tensor.shape[0] or _MOST_AXES + 1) > _MOST_AXES)


def _is_product(op: Op) -> bool:
    return op.kind in (OpKind.CONTRACT, OpKind.CALL) or op.action is Action.MULTIPLY


def _split(index: Index, tensor: TensorId, dependent: set[TensorId], *, totals: bool = True) -> list[TensorId]:
    """The summands of a tensor, each as far out as it stands alone: `0.1 * mean(x)` rather than `x`.

    Not `totals`: those of a sum within a mean or a sum are left together.
    """
    found: list[TensorId] = []
    todo, seen = [(tensor, tensor)], {tensor}
    while todo and len(found) <= _MOST_TERMS:
        shown, at = todo.pop()  # a summand as the user has it, and how far it was looked into
        parts = [part for op in index.makers.get(at, ()) for part in _parts(index, op, dependent)]
        if not totals and any(op.action in TOTALS or op.action is Action.JOIN for op in index.makers.get(at, ())):
            parts = []
        if not parts or seen.intersection(parts):
            found.append(shown)
            continue
        seen.update(parts)
        todo.extend([(shown, parts[0])] if len(parts) == 1 else [(part, part) for part in reversed(parts)])
    return found


def _parts(index: Index, op: Op, dependent: set[TensorId]) -> Iterator[TensorId]:
    """What a sum adds up; of what only scales or hands on, the one value."""
    floating = [tensor for tensor in op.inputs if index.can_carry(tensor)]
    if op.kind is OpKind.STOP or op.layers:
        return  # what a layer adds up is its own business
    if op.action in _SUMS or op.action is Action.JOIN:
        yield from dict.fromkeys(floating)
    elif op.action in _FIRST or (op.kind is OpKind.MOVE and len(op.inputs) == 1):
        yield from floating[:1]
    elif op.action is Action.MULTIPLY and len(floating) == 2:
        kept = [tensor for tensor in floating if tensor in dependent]
        yield from kept if len(kept) == 1 else ()
    elif op.action in _QUOTIENTS and len(floating) == 2 and floating[1] not in dependent:
        yield floating[0]


def is_sum(graph: Graph, targets: Iterable[TensorId]) -> bool:
    """Whether there may be several terms; a quick look at the last few ops."""
    index = index_of(graph)
    computed = {tensor for op in graph.ops if op.inputs or op.variable is not None for tensor in op.outputs}
    return any(len(_split(index, target, computed)) > 1 for target in targets)


def terms_of(request: Request) -> Terms:
    """The terms of a request, found once for all rules."""
    index = index_of(request.graph)
    asked = tuple((source.variable, source.tensor) for source in request.sources)
    return index.derived(("terms", request.targets, request.tape, asked), lambda: Terms(index, request))
