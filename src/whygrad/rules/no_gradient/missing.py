"""The gradients that are missing in a recording and where their paths are cut: found once, claimed by many rules."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace

from whygrad.graph import (
    Action,
    FailureKind,
    Lapse,
    Op,
    OpKind,
    Outcome,
    Recording,
    Request,
    Source,
    TensorId,
    Variable,
    VariableId,
)
from whygrad.graph.objects import AttributeSet
from whygrad.graph.questions.query import (
    Cut,
    CutGroup,
    Index,
    Reason,
    cut_groups,
    index_of,
    is_connected,
    later_cuts,
    target_makers,
)
from whygrad.graph.questions.untrained import applied_requests
from whygrad.graph.questions.zeros import is_flattened, is_reached
from whygrad.graph.recording import ABSENT
from whygrad.rules.no_gradient.lost_terms import LostTerm, lost_terms
from whygrad.source import SourceSpan
from whygrad.source.naming import rebinds_attribute


@dataclass(frozen=True, slots=True)
class MissingCut:
    """One place that cuts off some sources of one request."""

    request: Request
    cut: Cut
    sources: tuple[Source, ...]
    later: tuple[Cut, ...]
    is_draw: bool = False  # a comparison with random noise: a sample, really
    lapse: Lapse | None = None  # of the tape, in which the op of the cut ran
    rebinds: bool = False  # the op makes what an attribute holds from then on, in place of these variables
    lost: LostTerm | None = None  # set where other terms of the loss give these sources a gradient

    @property
    def is_meant(self) -> bool:
        """Whether a stop was written, and zeros asked for in place of what it keeps back."""
        return self.cut.reason is Reason.STOPPED and self.request.zeros_accepted and not gives_nothing(self.request)


@dataclass(frozen=True, slots=True)
class Unconnected:
    """Sources that the target of a request does not depend on."""

    request: Request
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Unwatched:
    """A source that the tape did not watch, or only after its first use."""

    request: Request
    source: Source
    first_use: SourceSpan | None = None  # set where `watch` came late


@dataclass(frozen=True, slots=True)
class Rebound:
    """A name that held a variable in an earlier request and holds a tensor now."""

    request: Request
    variable: Variable
    made: Op | None  # the op that made the tensor


@dataclass(frozen=True, slots=True)
class Missing:
    cuts: tuple[MissingCut, ...] = ()
    unconnected: tuple[Unconnected, ...] = ()
    unwatched: tuple[Unwatched, ...] = ()
    constant: tuple[Request, ...] = ()
    rebound: tuple[Rebound, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.cuts or self.unconnected or self.unwatched or self.constant or self.rebound)

    def __add__(self, other: Missing) -> Missing:
        return Missing(
            self.cuts + other.cuts,
            self.unconnected + other.unconnected,
            self.unwatched + other.unwatched,
            self.constant + other.constant,
            self.rebound + other.rebound,
        )


_cache: weakref.WeakKeyDictionary[Recording, Missing] = weakref.WeakKeyDictionary()


def missing_of(recording: Recording) -> Missing:
    """All missing gradients of a recording, explained as far as the graph goes."""
    known = _cache.get(recording)
    if known is None:
        known = Missing()
        for request in recording.requests:
            known += _look_into(recording, request)
        _cache[recording] = known
    return known


def _look_into(recording: Recording, request: Request) -> Missing:
    index = index_of(request.graph)
    sources = [s for s in request.sources if _is_lost(recording, request, s, index) and is_explicable(recording, s)]
    zeroed = _zeroed(recording, request) + _lost_in_terms(recording, request)
    if zeroed and not sources:
        return zeroed
    if not sources or request.target_type or _is_broken(request):
        return Missing()
    behind = index.behind(request.targets)
    rebound = {id(s): r for s in sources if (r := _rebound(recording, request, s, index)) is not None}
    sources = [s for s in sources if id(s) not in rebound]
    joined = [s for s in sources if is_connected(index, behind, s)]
    apart = tuple(s for s in sources if not is_connected(index, behind, s))
    unwatched = {id(s): u for s in joined if (u := _unwatched(recording, request, s, index)) is not None}
    cuttable = [s for s in joined if id(s) not in unwatched]
    is_constant = bool(apart) and not joined and _is_constant(request, index, behind)
    return zeroed + Missing(
        cuts=tuple(
            _missing_cut(index, request, group) for group in _nearest(request, cut_groups(index, request, cuttable))
        ),
        unconnected=(Unconnected(request, apart),) if apart and not is_constant else (),
        unwatched=tuple(unwatched.values()),
        constant=(request,) if is_constant else (),
        rebound=tuple(rebound.values()),
    )


def _nearest(request: Request, groups: list[CutGroup]) -> list[CutGroup]:
    """Without those of an earlier pass, outside of the tape, where all of their sources are cut off under it, too; and
    without stops, which are meant, where a value of theirs was found to leave the framework."""
    inside = _cut_by(g for g in groups if g.cut.reason is not Reason.OUTSIDE and request.tape in g.cut.op.tapes)
    left = _cut_by(g for g in groups if g.cut.reason is Reason.FOREIGN and g.cut.op.inferred)
    better = {Reason.OUTSIDE: inside, Reason.STOPPED: left}
    return [g for g in groups if g.sources and not {id(s) for s in g.sources} <= better.get(g.cut.reason, set())]


def _cut_by(groups: Iterable[CutGroup]) -> set[int]:
    return {id(source) for group in groups for source in group.sources}


def _lost_in_terms(recording: Recording, request: Request) -> Missing:
    """Sources that get a gradient, but not that of a term which has lost its way to them."""
    index = index_of(request.graph)
    found = []
    all_lost = list(lost_terms(request, [s for s in request.sources if is_explicable(recording, s)]))
    is_used = bool(all_lost) and any(each is request for each in applied_requests(recording))
    asked = [(each, _asked(each)) for each in recording.requests if each is not request] if all_lost else []
    others = {number for _, numbers in asked for number in numbers}
    for lost in all_lost:
        of_term = replace(request, targets=lost.targets)
        beside = {number for each, numbers in asked if _is_of(each, lost) for number in numbers}
        for group in _nearest(request, cut_groups(index, of_term, lost.sources, zeros=False)):
            shown = _missing_cut(index, of_term, group)
            if lost.is_told(request, group.cut, shown.cut, others=others, beside=beside, is_used=is_used):
                found.append(replace(shown, request=request, lost=lost))
    return Missing(cuts=tuple(found))


def _asked(request: Request) -> set[VariableId]:
    return {source.variable for source in request.sources if source.variable is not None}


def _is_of(request: Request, lost: LostTerm) -> bool:
    """Whether what another request differentiates has the term in it, too."""
    return not index_of(request.graph).behind(request.targets).isdisjoint(lost.targets)


def _is_lost(recording: Recording, request: Request, source: Source, index: Index) -> bool:
    """Whether no gradient came back; zeros that stand for None are none, if nobody asked for them or there are no others."""
    if source.outcome in ABSENT:
        return True
    if request.zeros_accepted:
        connected = is_connected(index, index.behind(request.targets), source)
        return is_missed(recording, request, source) if connected else used_whole(request, source) is not None
    if not request.zeros_given:
        return False
    return not is_reached(request, source) or _unwatched(recording, request, source, index) is not None


def is_missed(recording: Recording, request: Request, source: Source) -> bool:
    """Whether zeros that were asked for hide a loss: of all gradients, or of one variable that nothing ever gave any."""
    if gives_nothing(request) or source.variable is None or len(request.sources) == 1:
        return gives_nothing(request)
    if source.outcome is not Outcome.ZERO if (seen := source.numbers) is None else seen.moved or any(seen.norms):
        return False  # requests that differ in what they reach may be one here
    also = [(r, s) for r in recording.requests for s in r.sources if s.variable == source.variable]
    return not any(other.graph.truncated or is_reached(other, each) for other, each in also)


def used_whole(request: Request, source: Source) -> Op | None:
    """The op by which the target uses all of what the source, a tensor that it does not use, was cut out of."""
    index = index_of(request.graph)
    behind = index.behind(request.targets)
    part = source.tensor
    for _ in index.ops:  # a part of a part, but for ever in no loop
        made = None if part is None or part in behind else next(iter(index.makers.get(part, ())), None)
        if made is None:
            break
        part = made.inputs[0] if made.action is Action.SPLIT else None
    users = () if part is None or part == source.tensor else index.users.get(part, ())
    used = (op for op, _ in users if op.action is not Action.SPLIT and any(each in behind for each in op.outputs))
    return next(used, None)


def gives_nothing(request: Request) -> bool:
    """Whether the target reaches none of several variables that were asked for, or was not made under the tape at all."""
    asked = [source for source in request.sources if source.variable is not None]
    if request.graph.truncated or not (len(asked) > 1 or _is_made_outside(request)):
        return False
    return not any(is_reached(request, source) for source in (asked if len(asked) > 1 else request.sources))


def _is_made_outside(request: Request) -> bool:
    """Whether the tape recorded none of the ops that gave the targets."""
    made = target_makers(request)
    return bool(made) and not any(request.tape in op.tapes for op in made)


def _is_broken(request: Request) -> bool:
    """Whether it raised for another reason than that a gradient is missing."""
    return request.error is not None and request.error.kind is not FailureKind.NO_DERIVATIVE


def _zeroed(recording: Recording, request: Request) -> Missing:
    """Through a loop or branch a framework may give zeros where it would give None: cut all the same."""
    if not any(op.branched for op in request.graph.ops):
        return Missing()
    index = index_of(request.graph)
    alive = index.open_behind(request.targets, request.tape)
    behind = index.behind(request.targets)
    dead = [
        s
        for s in request.sources
        if s.outcome in (Outcome.PRESENT, Outcome.ZERO)
        and s.variable is not None
        and is_explicable(recording, s)
        and is_connected(index, behind, s)
        and not any(tensor in alive for tensor in index.starts(s))
    ]
    groups = [g for g in cut_groups(index, request, dead) if g.sources] if dead else []
    apart = tuple(s for s in request.sources if _is_zero_and_apart(recording, index, behind, s))
    return Missing(
        cuts=tuple(_missing_cut(index, request, g) for g in groups if g.cut.op.branched),
        unconnected=(Unconnected(request, apart),) if apart else (),
    )


def _is_zero_and_apart(recording: Recording, index: Index, behind: set[TensorId], source: Source) -> bool:
    """Read in a loop or branch, but nothing of it goes into the target; seen to be zero."""
    if source.outcome is not Outcome.ZERO or source.variable is None or not is_explicable(recording, source):
        return False
    reads = index.reads.get(source.variable, ())
    return any(op.branched for op in reads) and not is_connected(index, behind, source)


def _missing_cut(index: Index, request: Request, group: CutGroup) -> MissingCut:
    """Moving an op under the tape does not help where its value leaves the framework or is stored afterwards."""
    cut, later = group.cut, later_cuts(index, request, group.cut)
    if cut.reason is Reason.OUTSIDE:
        cut = next((each for each in later if each.reason in (Reason.FOREIGN, Reason.WRITTEN, Reason.STATE)), cut)
    if cut.reason is Reason.OUTSIDE and cut.op.kind is not OpKind.GRADIENT:
        cut = _inner_gradient(index, request, cut) or cut
    lapses = request.lapses if cut.reason is Reason.OUTSIDE else ()
    lapse = next((each for each in lapses if each.first <= cut.op.id < each.end), None)
    rebinds = cut.reason is Reason.OUTSIDE and lapse is None and _rebinds(index, cut, group.sources)
    return MissingCut(request, cut, group.sources, tuple(later), _is_draw(index, cut), lapse, rebinds)


def _rebinds(index: Index, cut: Cut, sources: Iterable[Source]) -> bool:
    """Whether the expression of a cut is made of variables, and replaces what held them."""
    taken = {tensor for op in index.ops if op.where == cut.op.where for tensor in op.inputs}
    made_of = [source for source in sources if source.variable and not taken.isdisjoint(index.starts(source))]
    return bool(made_of) and rebinds_attribute(cut.op.where)


def _inner_gradient(index: Index, request: Request, cut: Cut) -> Cut | None:
    """The gradient that was taken of what ran outside: the tape must record that, whatever else it records."""
    ahead, behind = index.ahead(index.results(cut.op)), index.behind(request.targets)
    for op in index.ops:
        if op.kind is OpKind.GRADIENT and request.tape not in op.tapes and any(t in behind for t in op.outputs):
            position = next((i for i, tensor in enumerate(op.inputs) if tensor in ahead), None)
            if position is not None:
                return Cut(op, position, Reason.OUTSIDE)
    return None


def _unwatched(recording: Recording, request: Request, source: Source, index: Index) -> Unwatched | None:
    tape = recording.tapes.get(request.tape)
    if source.variable is not None:
        variable = recording.variables[source.variable]
        if not variable.trainable and len(request.sources) > 1:
            return None
        automatic = variable.watchable and (tape is None or tape.watches_variables)
        return None if automatic or source.watched is not None else Unwatched(request, source)
    if source.tensor is None or _is_traced(index, request, source.tensor):
        return None
    if source.watched is None:
        return Unwatched(request, source)
    used = [op for op, _ in index.users.get(source.tensor, ())]  # and what a function captured, by its users
    used += [op for move in used if move.kind is OpKind.MOVE for t in move.outputs for op, _ in index.users.get(t, ())]
    early = [op for op in used if op.id < source.watched and request.tape in op.tapes]
    return Unwatched(request, source, early[0].where or request.where) if early else None


def _is_traced(index: Index, request: Request, tensor: TensorId) -> bool:
    """Whether the tape follows a tensor anyway, because it was made from something it watches."""
    makers = [op for op in index.makers.get(tensor, ()) if request.tape in op.tapes and op.inputs]
    return any(op.kind is OpKind.READ or _follows(index, request, op) for op in makers)


def _follows(index: Index, request: Request, op: Op) -> bool:
    watched = {s.tensor for s in request.sources if s.watched is not None}
    behind = index.open_behind(op.inputs, request.tape)
    return any(
        tensor in watched or any(maker.kind is OpKind.READ for maker in index.makers.get(tensor, ()))
        for tensor in behind
    )


def _is_constant(request: Request, index: Index, behind: set[TensorId]) -> bool:
    watched = request.watched | {s.tensor for s in request.sources if s.watched is not None}
    return not any(
        tensor in watched or any(op.variable is not None for op in index.makers.get(tensor, ())) for tensor in behind
    )


def _is_draw(index: Index, cut: Cut) -> bool:
    """A comparison with noise; or what a library does around it in one call of the user's."""
    if cut.op.kind is not OpKind.COMPARE:
        return False
    if cut.op.where is not None and any(
        op.kind in (OpKind.NOISE, OpKind.SAMPLE) and op.where == cut.op.where for op in index.ops
    ):
        return True
    others = [tensor for i, tensor in enumerate(cut.op.inputs) if i != cut.input]
    kinds = {op.kind for tensor in index.behind(others) for op in index.makers.get(tensor, ())}
    return OpKind.NOISE in kinds and OpKind.READ not in kinds


def _rebound(recording: Recording, request: Request, source: Source, index: Index) -> Rebound | None:
    """The same place asked for a variable before."""
    if source.tensor is None:
        return None
    position = next(i for i, s in enumerate(request.sources) if s is source)
    for earlier in recording.requests:
        if earlier.where != request.where or earlier.order >= request.order or position >= len(earlier.sources):
            continue
        variable = earlier.sources[position].variable
        if variable is not None and len(earlier.sources) == len(request.sources):
            made = next(iter(index.makers.get(source.tensor, ())), None)
            return Rebound(request, recording.variables[variable], made)
    return None


def is_explained(recording: Recording, loose: Unconnected, source: Source) -> bool:
    """Whether another rule says better why the loss does not depend on a source: one about the wrong variables, or about
    an activation without curvature."""
    variable = recording.variables.get(source.variable) if source.variable is not None else None
    if variable is None:
        return False
    if any(event.held == variable.id for event in recording.events_of(AttributeSet)):
        return True
    return is_beside_trainable(recording, loose.request, source) or is_flattened(loose.request, source)


def is_beside_trainable(recording: Recording, request: Request, source: Source) -> bool:
    """A variable that is not trainable, in a list with some that are: what is wrong is the list."""
    own = None if source.variable is None else recording.variables.get(source.variable)
    asked = [recording.variables.get(s.variable) for s in request.sources if s.variable is not None]
    return own is not None and not own.trainable and any(each.trainable for each in asked if each is not None)


def is_explicable(recording: Recording, source: Source) -> bool:
    """Integer variables are another rule's; so are things that are neither variable nor tensor."""
    if source.variable is not None:
        variable = recording.variables.get(source.variable)
        return variable is not None and variable.is_floating
    return source.tensor is not None
