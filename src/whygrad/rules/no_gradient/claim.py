"""How a rule of this family claims the cuts of its own kind, and whether anybody misses the gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Set

from whygrad.diagnostics import Fix, Label, Severity, Word
from whygrad.graph import FailureKind, Op, Recording, Request, Source, VariableId
from whygrad.graph.objects import Trained
from whygrad.graph.questions.query import Cut, Reason, index_of, made_at
from whygrad.graph.questions.terms import terms_of
from whygrad.graph.questions.zeros import is_filled_in
from whygrad.graph.recording import ABSENT
from whygrad.rules.no_gradient.missing import MissingCut, is_missed, missing_of
from whygrad.rules.rule import Finding
from whygrad.rules.thresholds import STEPS_LOST_FOR_GOOD
from whygrad.rules.wording import listing, names_of, steps_of
from whygrad.source import SourceSpan
from whygrad.source.arguments import argument_span


def claim(
    recording: Recording,
    reason: Callable[[MissingCut], bool],
    *,
    because: Callable[[Cut], str],
    label: Callable[[Cut], str],
    help: Callable[[Cut], str],
    severity: Callable[[Recording, MissingCut], Severity | None] | None = None,
    instead: Callable[[MissingCut], SourceSpan | None] = lambda missing: None,
    beside: Callable[[MissingCut], tuple[Label, ...]] = lambda missing: (),
    fixes: Callable[[MissingCut], Iterable[Fix]] = lambda missing: (),
) -> Iterator[Finding]:
    """One finding for each place whose cut a rule recognises; `instead` may know a better place to show it."""
    by_place: dict[object, list[MissingCut]] = {}
    for missing in missing_of(recording).cuts:
        if reason(missing):
            place = instead(missing) or _shown_at(recording, missing) or missing.cut.op.id
            by_place.setdefault(place, []).append(missing)
    for group in by_place.values():
        first = group[0]
        names = tuple(dict.fromkeys(n for m in group for n in names_of(recording, m.request, m.sources)))
        called = first.cut.op.where
        where = instead(first) or _shown_at(recording, first)
        away = () if called is None or where == called else (Label(called, "used here"),)
        yield Finding(
            message=_message(first, names, because(first.cut)),
            primary=None if where is None else Label(where, label(first.cut)),
            variables=names,
            related=(*away, *beside(first), *_also(first)),
            notes=_notes(recording, first),
            help=help(first.cut),
            steps=steps_of(recording, [missing.request for missing in group]),
            severity=_severity(recording, group) if severity is None else severity(recording, first),
            certain=not first.cut.op.inferred,
            fixes=functools.partial(fixes, first),
        )


def _shown_at(recording: Recording, missing: MissingCut) -> SourceSpan | None:
    """Where the user wrote what cuts; of the library's own code between the last layer and the loss, the loss."""
    op, request = missing.cut.op, missing.request
    if request.model is None or op.layers or op.where is None or op.where != request.where:
        return op.where
    losses = [each for each in recording.objectives if each.compiled and each.trained == request.where]
    given = losses[0].where if len(losses) == 1 else None
    return op.where if given is None else argument_span(given, "loss", 1) or given


def refused(recording: Recording) -> Iterator[tuple[Request, Op | None]]:
    """Requests that raised for want of a derivative and that no cut explains: the variables have other ways too, but the
    framework raises for one of them all the same. With the op that it named, if that is in the graph."""
    told = {id(missing.request) for missing in missing_of(recording).cuts if _is_refusal(missing)}
    for request in recording.requests:
        name = None if request.error is None else request.error.op
        if name is not None and id(request) not in told:
            behind = index_of(request.graph).behind(request.targets)
            ops = [op for op in request.graph.ops if op.name == name and not behind.isdisjoint(op.outputs)]
            yield request, next((op for op in reversed(ops) if op.where is not None), None)


def _is_refusal(missing: MissingCut) -> bool:
    """Whether a cut explains the error of its request, by the rule of its kind."""
    error = missing.request.error
    return missing.cut.reason is Reason.UNREGISTERED or (error is not None and error.op == missing.cut.op.name)


def refusal(
    recording: Recording,
    request: Request,
    op: Op | None,
    *,
    what: str,
    label: str,
    help: str,
    fixes: Callable[[], Iterable[Fix]],
) -> Finding:
    """The finding of one of them."""
    names = names_of(recording, request, request.sources)
    return Finding(
        message=f"no gradient reaches {listing(names)}: {Word.FRAMEWORK} cannot differentiate {what}",
        primary=None if op is None or op.where is None else Label(op.where, label),
        variables=names,
        related=() if request.where is None else (Label(request.where, "asked for here"),),
        help=help,
        steps=steps_of(recording, [request]),
        fixes=fixes,
    )


def _message(missing: MissingCut, names: tuple[str, ...], because: str) -> str:
    if missing.lost is None:
        return f"no gradient reaches {listing(names)}: {because}"
    return f"{missing.lost.said} train {listing(names)}: {because}".replace("the loss", "it")


def _severity(recording: Recording, group: Iterable[MissingCut]) -> Severity | None:
    """A variable that another loss trains, or that gets it in other steps, is a note; of a term it is what is said."""
    missed = [m for m in group if not m.is_meant]
    told = [
        m for m in missed if m.lost or _is_of_slopes(recording, m) or not is_deliberate(recording, m.request, m.sources)
    ]
    if not told:
        lost = any(_is_lost_for_good(recording, missing.request, missing.sources) for missing in missed)
        return Severity.WARNING if lost else Severity.NOTE
    return Severity.WARNING if all(m.lost is not None and m.lost.is_fitted for m in told) else None


def _is_lost_for_good(recording: Recording, request: Request, sources: Iterable[Source]) -> bool:
    """Whether the first step alone gave these variables a gradient, and none of many steps since."""
    given = _giving(recording, {source.variable for source in sources}, request)
    first = [each for each in given if each.seen == 1 and each.order < request.order and _is_same_loss(each, request)]
    return bool(first) and len(first) == len(given) and request.seen >= STEPS_LOST_FOR_GOOD


def is_deliberate(recording: Recording, request: Request, sources: Iterable[Source]) -> bool:
    """Whether nobody misses these gradients; not where they were all that was asked for, or something broke for want of them."""
    sources = tuple(sources)
    if request.zeros_accepted:
        return not any(is_missed(recording, request, source) for source in sources)
    if _is_fatal(recording, request) or _is_update_without(recording, request, sources):
        return False
    in_vain = len(request.sources) > 1 and not any(_is_given(request, source) for source in request.sources)
    return all(
        source.variable is not None and is_trained_elsewhere(recording, source.variable, request, by_same_loss=in_vain)
        for source in sources
    )


def _is_fatal(recording: Recording, request: Request) -> bool:
    """Whether the program ended because of this request: an optimizer got nothing, or None was computed with."""
    kind = None if recording.failure is None else recording.failure.kind
    if kind is FailureKind.MISSING_USED:
        lacking = [each for each in recording.requests if any(source.outcome in ABSENT for source in each.sources)]
        return request is max(lacking, key=lambda each: each.order, default=None)
    return kind is FailureKind.NO_GRADIENTS and all(source.outcome in ABSENT for source in request.sources)


def _is_of_slopes(recording: Recording, missing: MissingCut) -> bool:
    """Whether a gradient of gradients gave nothing at all: nobody takes that to see what a loss trains."""
    request = missing.request
    if any(source.outcome not in ABSENT for source in request.sources):
        return False
    behind = index_of(request.graph).behind(request.targets)
    asked = {each.where for each in recording.requests if each.tape != request.tape} - {None}
    slopes = (op for op in request.graph.ops if op.where in asked)  # a tape's way back runs where it was asked for
    return any(not behind.isdisjoint(op.outputs) for op in slopes)


def _is_update_without(recording: Recording, request: Request, sources: tuple[Source, ...]) -> bool:
    """Whether an optimizer was given nothing at all, for these variables and by this request."""
    lost = {source.variable for source in sources}
    for update in recording.updates:
        moved = {pair.variable for pair in update.pairs}
        if moved and moved <= lost and all(pair.missing for pair in update.pairs):
            asked = [each for each in recording.requests if moved <= {source.variable for source in each.sources}]
            earlier = [each for each in asked if each.order <= update.order]
            if request is max(earlier, key=lambda each: each.order, default=None):
                return True
    return False


def is_trained_elsewhere(
    recording: Recording, variable: VariableId, but: Request, *, by_same_loss: bool = False
) -> bool:
    """The same loss gives it a gradient in other steps; or another request does, and something moves it."""
    given = _giving(recording, {variable}, but)
    if any(pair.variable == variable and pair.missing for update in recording.updates for pair in update.pairs):
        given = [request for request in given if not _is_over(recording, request, but)]
    if by_same_loss or not given or not _is_moved(recording, variable):
        return any(_is_same_loss(request, but) for request in given)
    return True


def _giving(recording: Recording, variables: Set[VariableId | None], but: Request) -> list[Request]:
    """The other requests that gave one of these variables a gradient."""
    others = (request for request in recording.requests if request is not but)
    return [each for each in others if any(s.variable in variables and _is_given(each, s) for s in each.sources)]


def _is_over(recording: Recording, request: Request, then: Request) -> bool:
    """Whether a model was trained by this request for the last time before another one was made."""
    begun = [event.order for event in recording.events_of(Trained) if event.where == request.where]
    return request.model is not None and then.model is None and bool(begun) and max(begun) < then.order


def _is_given(request: Request, source: Source) -> bool:
    """Whether a gradient came back, and not that of a penalty alone."""
    return _comes(request, source) and not terms_of(request).is_only_penalised(source)


def _comes(request: Request, source: Source) -> bool:
    """Whether a gradient came back, and not zeros in its place."""
    return source.outcome not in ABSENT and not is_filled_in(request, source)


def _is_moved(recording: Recording, variable: VariableId) -> bool:
    return recording.variables[variable].writes > 0 or any(
        pair.variable == variable and not pair.missing for update in recording.updates for pair in update.pairs
    )


def _is_same_loss(one: Request, other: Request) -> bool:
    """Whether one expression asked for both, and one expression made what they differentiate."""
    made = made_at(one)
    known = bool(made) and one.where is not None and None not in made
    return known and one.where == other.where and made == made_at(other)


def _also(missing: MissingCut) -> tuple[Label, ...]:
    labels = []
    own = missing.cut.op.where
    lines = set() if own is None else {(own.file, own.line)}
    for cut in missing.later:
        where = cut.op.where
        if where is not None and cut.reason is not Reason.WRITTEN and (where.file, where.line) not in lines:
            lines.add((where.file, where.line))
            labels.append(Label(where, "and cut again here"))
    return tuple(labels[:2])


def _notes(recording: Recording, missing: MissingCut) -> tuple[str, ...]:
    if missing.lost is not None:
        return (missing.lost.trained_by,)
    others = [s for s in missing.request.sources if _comes(missing.request, s) and s not in missing.sources]
    if not others or missing.request.where is None:
        return ()
    noun = "source" if any(source.variable is None for source in others) else "variable"
    who = f"1 other {noun} gets" if len(others) == 1 else f"{len(others)} other {noun}s get"
    return (f"{who} a gradient in the same call",)
