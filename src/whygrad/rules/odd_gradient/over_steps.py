"""The sizes of gradients over the steps of a watched run, as the rules about them need them.

The checks are those of recorded runs (`series`), fed with what a capture has and shown at their place in the code. A
trouble that is the consequence of another is left to the rule of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.fixes.networks import leaking
from whygrad.graph import Action, GradientNumbers, Op, OpKind, Recording, Request, Source, Variable
from whygrad.graph.learning import Objective
from whygrad.graph.nonfinite import Nonfinite, Scaled
from whygrad.graph.questions.conserved import dropped_out
from whygrad.graph.questions.feeding import norm_before
from whygrad.graph.questions.misfit import misfits
from whygrad.graph.questions.progress import is_trained_by, stands_still
from whygrad.graph.questions.query import index_of
from whygrad.graph.questions.stall import Stall, stalls
from whygrad.graph.questions.terms import terms_of
from whygrad.graph.questions.zeros import is_filled_in, zeroed_by_lone_softmax
from whygrad.graph.series import RECTIFIED, SATURATING, TrackSeries, VariableInfo, VariableSeries
from whygrad.rules.odd_gradient.series import Check
from whygrad.rules.rule import Finding
from whygrad.rules.thresholds import AMPLIFIED, DEFAULT, HUGE_BEHIND_NORMALISATION
from whygrad.rules.wording import listing, name_of
from whygrad.source import SourceSpan

LEAST: Final = DEFAULT.least_steps
_SILENCING: Final = (Stall.UNSCALED_INPUTS, Stall.CONSTANT_INPUTS, Stall.CONSTANT_TARGETS)


@dataclass(frozen=True, slots=True)
class Followed:
    """A variable of a request whose gradient was measured over steps."""

    source: Source
    variable: Variable
    name: str
    numbers: GradientNumbers

    @property
    def is_zero(self) -> bool:
        return not any(self.numbers.norms)

    @property
    def is_mostly_there(self) -> bool:
        return sum(norm > 0 for norm in self.numbers.norms) > 0.9 * len(self.numbers.norms)

    @property
    def peak(self) -> float:
        return max((norm for norm in self.numbers.norms if norm == norm), default=0.0)

    @property
    def layer(self) -> str:
        return self.name.rpartition("/")[0] or self.name


def followed(recording: Recording, request: Request) -> list[Followed]:
    """What was measured, in the order of the forward pass."""
    found = [
        Followed(source, recording.variables[source.variable], name_of(recording, request, source), source.numbers)
        for source in request.sources
        if source.variable is not None and source.numbers is not None
    ]
    return sorted(found, key=lambda each: each.numbers.order)


def measured(recording: Recording, least: int = LEAST) -> Iterator[tuple[Request, list[Followed]]]:
    """Requests of which enough steps were kept to say something."""
    for request in recording.requests:
        if len(request.steps) >= least:
            yield request, followed(recording, request)


def blank_kernels(group: Sequence[Followed]) -> list[Followed]:
    """Matrices that are zero in all elements, and have been: behind one of them every gradient is zero."""
    return [each for each in group if each.numbers.blank and len(each.variable.shape or ()) > 1]


def silenced(group: Sequence[Followed]) -> tuple[Followed, list[Followed]] | None:
    """The layer that lets no gradient through, and all that gets none for it; None: there is none.

    Its bias gets exactly zero at every step, the next bias does not: so the gradient ends at its activation.
    """
    if not group or len(group[0].numbers.norms) < LEAST or blank_kernels(group):
        return None
    biases = [each for each in group if each.numbers.units]
    for number, bias in reversed(list(enumerate(biases[:-1]))):
        if bias.is_zero:
            if bias.numbers.activation not in RECTIFIED | SATURATING or biases[number + 1].is_zero:
                return None
            until = biases[number + 1].numbers.order
            return bias, [each for each in group if each.is_zero and each.numbers.order < until]
    return None


def silent_layers(
    recording: Recording, activations: frozenset[str], check: Check, how: str, help: str
) -> Iterator[Finding]:
    """Layers with one of these activations that pass no gradient at all, or hardly any by a check."""
    bad = spoiled(recording)
    unfit = _explained(recording) if recording.objectives else []
    said = set[str]()
    for request, group in measured(recording):
        if request.where in bad or len(blank_kernels(group)) > 1:  # what is NaN or zero passes nothing back either
            continue
        terms, nothing = terms_of(request), rounding_only(request)
        group = [  # the data's way is cut elsewhere
            each
            for each in group
            if not terms.is_only_penalised(each.source)
            and not is_filled_in(request, each.source)
            and id(each.source) not in nothing
        ]
        if any(is_trained_by(recording, objective, request) for objective in unfit):  # a note there
            continue
        for finding in _silent_in(recording, request, group, activations, check, how, help):
            if finding.message not in said:
                said.add(finding.message)
                yield finding


def _explained(recording: Recording) -> list[Objective]:
    """The trainings whose silent layers are a consequence of something else."""
    found = [each.objective for each in misfits(recording)]
    return found + [each.objective for each in stalls(recording) if each.stall in _SILENCING]


def _silent_in(
    recording: Recording,
    request: Request,
    group: list[Followed],
    activations: frozenset[str],
    check: Check,
    how: str,
    help: str,
) -> Iterator[Finding]:
    """Of one request. Units that are silent while the loss falls do no harm: that is a note."""
    found = silenced(group)
    if found is None:
        findings = list(_hardly_any(recording, request, group, check))
    else:
        layer, zero = found
        findings = [_none_at_all(request, layer, zero, how, help)] if layer.numbers.activation in activations else []
    harmless = how == "dead" and bool(request.losses) and not stands_still(request)
    for finding in findings:
        yield replace(finding, severity=Severity.NOTE) if harmless else finding


def _none_at_all(request: Request, layer: Followed, zero: Sequence[Followed], how: str, help: str) -> Finding:
    units, names = layer.numbers.units, tuple(each.name for each in zero)
    made = layer.variable.created
    where = made if how == "dead" else layer.numbers.activated or made
    return Finding(
        message=f"all {units} units of `{layer.layer}` are likely {how}: the gradient ends at its "
        f"`{layer.numbers.activation}`",
        primary=None if where is None else Label(where, "no gradient passes this layer"),
        related=asked(request),
        variables=names,
        notes=(f"the gradient of {listing(names)} was exactly zero at every step",),
        help=help,
        steps=always(request),
        severity=Severity.WARNING,
        certain=False,
        fixes=partial(leaking, made),
    )


def _hardly_any(recording: Recording, request: Request, group: Sequence[Followed], check: Check) -> Iterator[Finding]:
    by_name = {each.name: each for each in group}
    for finding in check(track_of(request, group), DEFAULT):
        layer = by_name[finding.variables[0]]
        wall = _wall_behind(group, layer)
        if wall is not None:
            layer, units = wall, "all units" if wall.numbers.units != 1 else "the only unit"
            finding = replace(finding, message=f"{units} of `{wall.layer}` likely dead: nothing before it learns")
        where = layer.numbers.activated or layer.variable.created or request.where
        label = None if where is None else Label(where, "hardly any gradient passes here")
        yield replace(finding, primary=label, related=asked(request), steps=always(request))


def _wall_behind(group: Sequence[Followed], layer: Followed) -> Followed | None:
    """The rectified layer nearest the loss all of whose units are silent: what comes before it is silent for it."""
    silent = [
        each
        for each in group
        if each.numbers.activation in RECTIFIED and each.numbers.units and each.numbers.silent == each.numbers.units
    ]
    last = max(silent, key=lambda each: each.numbers.order, default=None)
    return last if last is not None and last.numbers.order > layer.numbers.order else None


def spoiled(recording: Recording) -> set[SourceSpan | None]:
    """Where gradients were asked for that became NaN or Inf for good."""
    return {event.when.request for event in recording.events_of(Nonfinite) if not event.when.went_on}


def rounding_only(request: Request) -> set[int]:
    """The ids of sources whose gradient is zero by construction: what came back is rounding."""
    index = index_of(request.graph)
    found = [*dropped_out(request, index), *zeroed_by_lone_softmax(request, index)]
    return {id(source) for each in found for source in each.sources}


def all_zero(group: Sequence[Followed]) -> bool:
    """Whether no variable got anything else than zero at any of enough steps."""
    return bool(group) and len(group[0].numbers.norms) >= LEAST and all(each.is_zero for each in group)


def died_at(request: Request, group: Sequence[Followed]) -> int | None:
    """The step since which no variable got anything else than zero, while the loss stays what it was and is not zero.

    None: they still get something, or did so too lately to say; or they never did.
    """
    steps = list(zip(request.steps, request.losses, *(each.numbers.norms for each in group), strict=False))
    blank = list(itertools.takewhile(lambda step: not any(step[2:]), reversed(steps)))
    if not group or not LEAST <= len(blank) < len(steps):
        return None
    known = {loss for _, loss, *_ in blank}
    return int(blank[-1][0]) if len(known) == 1 and math.isfinite(loss := known.pop()) and loss != 0 else None


def zero_elsewhere(group: Sequence[Followed]) -> list[Followed]:
    """Variables whose gradient is zero at every step, while that of others is not."""
    if not group or len(group[0].numbers.norms) < LEAST or all_zero(group):
        return []
    found = silenced(group)
    claimed = {id(each) for each in (found[1] if found else ())}
    return [each for each in group if each.is_zero and id(each) not in claimed]


def norm_divided_by(scaled: Scaled) -> int | None:
    """The norm, among what went into an op, by which the op divided so that the gradient grew by far."""
    return norm_before(scaled.fed_by) if (scaled.factor or 0.0) >= AMPLIFIED else None


def normalising_op(request: Request, group: Sequence[Followed]) -> Op | None:
    """The division by a root behind which a compiled step has a huge gradient."""
    if not request.compiled or max((each.peak for each in group), default=0.0) < HUGE_BEHIND_NORMALISATION:
        return None
    index = index_of(request.graph)
    for root in request.graph.ops:
        if root.kind is not OpKind.SQRT:
            continue
        if root.action is Action.RECIPROCAL_ROOT:
            return root
        near = set(root.outputs)
        near |= {t for each in root.outputs for user, _ in index.users.get(each, ()) for t in user.outputs}
        for op in request.graph.ops:
            if op.kind is OpKind.DIVIDE and op.inputs and op.inputs[-1] in near:
                return op
    return None


def asked(request: Request) -> tuple[Label, ...]:
    return () if request.where is None else (Label(request.where, "the gradients are asked for here"),)


def always(request: Request) -> Steps:
    return Steps(max(1, request.ran), max(1, request.ran))


def track_of(request: Request, group: Sequence[Followed]) -> TrackSeries:
    """The same as a recorded run has it."""
    import numpy as np

    steps = np.asarray(request.steps)
    variables = tuple(
        VariableSeries(
            info=VariableInfo(
                name=each.name,
                shape=tuple(length or 0 for length in each.variable.shape or ()),
                dtype=each.variable.dtype,
                layer=each.layer,
                activation=each.numbers.activation,
            ),
            track="",
            steps=steps,
            channels={"norm": np.asarray(each.numbers.norms)},
            dead_units=each.numbers.silent,
            units=each.numbers.units,
        )
        for each in group
    )
    return TrackSeries(name="", steps=steps, variables=variables)
