"""Whether the steps of an optimizer fit the weights they move, by what was measured at the first of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from whygrad.graph.node import VariableId
from whygrad.graph.objects import AttributeSet
from whygrad.graph.questions.progress import LEAST_STEPS, last_loss, losses
from whygrad.graph.recording import Recording, Request, Source, Update

_TOO_LARGE: Final = 1.0  # a step, against the weights: one that is as long as they are leaves nothing of them
_LOSING: Final = 0.1  # the same, where the loss is lost
_LOST: Final = 100.0  # times the first loss
_FITTING: Final = 3e-3  # the same: trainings that learn move their weights by a thousandth to a hundredth a step
_GAINED: Final = 0.98  # of the first loss: a training that is below has gained something
_TOO_SMALL: Final = 0.15  # of the loss, that all steps together can take away at best; they take far less
_SMALL: Final = 5e-4  # a learning rate that is rarely chosen for plain descent: a larger one is not to blame
_SMALL_ADAPTIVE: Final = 5e-5  # the same where a step is as long whatever the gradient
_JUMP: Final = 0.02  # of the first loss: one that differs by less from step to step does not jump
_UNMOVED: Final = 0.95  # of the first loss: a training that is above has not moved
_LARGEST: Final = 10.0  # a learning rate that somebody would choose
_VANISHED: Final = 1e-3  # of the largest rate: steps that are shorter leave everything as it is
_NEARLY_ALL: Final = 0.75  # of the steps: a schedule that leaves so many without a rate was meant for fewer
_MOMENTUM: Final = 10.0  # how much longer momentum makes the steps of the usual size


def is_set_in_vain(recording: Recording) -> bool:
    """Whether the program changes the rate of an optimizer by a name that nothing reads."""
    return any(event.attribute == "lr" and not event.known for event in recording.events_of(AttributeSet))


@dataclass(frozen=True, slots=True)
class Rate:
    """The learning rate of a training, and what it does to the weights."""

    request: Request
    update: Update
    rate: float
    step: float  # the length of a step, as a share of that of the weights
    reach: float  # how much all steps together can lower the loss at best, as a share of it
    fitting: float  # a rate that would fit
    usual: float  # the rate of half of the steps, or less
    of_rows: bool  # of tables alone, whose rows start small and are looked up now and then


def rate_of(recording: Recording, request: Request) -> Rate | None:
    """None where the rate, the weights or the gradients are not known."""
    asked = {source.variable for source in request.sources}
    updates = [e for e in recording.updates if (e.rate or any(e.rates)) and any(p.variable in asked for p in e.pairs)]
    update = updates[0] if updates and not any(map(_adds_up, updates)) else None
    if update is not None and _starts_again(recording, update):
        return None
    moved = set() if update is None else {pair.variable for pair in update.pairs}  # others have rates of their own
    found = [s for s in request.sources if s.numbers is not None and s.variable in moved and _is_kernel(recording, s)]
    known = losses(request)
    rates = () if update is None else update.rates or (update.rate or 0.0,)
    if update is None or not any(rates) or not found or not known:
        return None
    if not all(source.numbers is not None and source.numbers.weight for source in found):
        return None  # one of them starts at zero: what is a long step for it, is not known
    weights = math.hypot(*(source.numbers.weight or 0.0 for source in found if source.numbers is not None))
    sizes = [math.prod(n or 1 for n in recording.variables[s.variable].shape or ()) for s in found if s.variable]
    elements = math.sqrt(sum(sizes))
    norms = [math.hypot(*column) for column in zip(*(s.numbers.norms for s in found if s.numbers), strict=False)]
    norms = [norm for norm in norms if math.isfinite(norm)]
    factor = 1.0 if update.adaptive else _scaled_by(update, moved)
    if not norms or not weights or factor is None:
        return None
    length = elements if update.adaptive else norms[0] * factor
    longest = max(norms)
    momentum = _MOMENTUM if update.stateful else 1.0
    spent = request.ran * sum(rates) / len(rates)
    gain = spent * longest * (elements if update.adaptive else momentum * longest * factor)
    rate = update.rate or max(rates)
    return Rate(
        request,
        update,
        rate,
        rate * length / weights,
        gain / max(abs(known[0]), 1e-30),
        _FITTING * weights / max(length, 1e-30),
        sorted(rates)[(len(rates) - 1) // 2],
        all(source.sparse for source in found),
    )


def _scaled_by(update: Update, moved: Set[VariableId]) -> float | None:
    """What the gradients of these variables are multiplied by before they are applied; None where that is not known, as
    of those of a loss that was multiplied, too."""
    scaled = [pair for pair in update.pairs if pair.variable in moved and pair.divided is not None]
    factors = {None if pair.loss_divided is not None or pair.scale is None else abs(pair.scale) for pair in scaled}
    return (factors or {1.0}).pop() if len(factors) < 2 else None


def _starts_again(recording: Recording, update: Update) -> bool:
    """Whether the same code trains with another optimizer too: its losses are those of several trainings."""
    return any(e.where == update.where and e.optimizer_id != update.optimizer_id for e in recording.updates)


def _adds_up(update: Update) -> bool:
    """Whether a step is made of several gradients: how long it is, is not the rate's doing alone."""
    return update.averages > 1 or any(pair.requests > 1 for pair in update.pairs)


def _is_kernel(recording: Recording, source: Source) -> bool:
    """A matrix or more: biases start at zero, and may go anywhere."""
    return source.variable is not None and len(recording.variables[source.variable].shape or ()) > 1


def is_too_large(rate: Rate) -> bool:
    """Whether a step is about as long as the weights are, and the loss has gained nothing, or is lost."""
    first, end = losses(rate.request)[0], last_loss(rate.request)
    lost = any(not math.isfinite(each) for each in rate.request.losses) or end > _LOST * abs(first)
    gained = rate.request.ran < LEAST_STEPS or end < _GAINED * first
    return (rate.step >= _LOSING and lost) or (is_long(rate) and not gained)


def is_long(rate: Rate) -> bool:
    """Whether a few steps leave nothing of what the weights were, and the loss shows it: it jumps."""
    known = losses(rate.request)
    return not rate.of_rows and rate.step >= _TOO_LARGE and max(known) - min(known) > _JUMP * abs(known[0])


def is_too_small(rate: Rate) -> bool:
    """Whether all steps together cannot change the loss, although there is a gradient."""
    if has_vanished(rate):
        return True
    unmoved = _is_unmoved(rate.request)
    another = rate.fitting <= _LARGEST and rate.reach * rate.fitting / rate.rate >= _TOO_SMALL  # rate would do
    small = rate.usual < (_SMALL_ADAPTIVE if rate.update.adaptive else _SMALL)
    return small and 0 < rate.reach < _TOO_SMALL and unmoved and another and rate.request.ran >= LEAST_STEPS


def has_vanished(rate: Rate) -> bool:
    """Whether most steps had next to nothing of the rate there was, and the loss stayed where it was meanwhile."""
    rates = rate.update.rates
    idle = [each for each in rates if each < _VANISHED * max(rates)]
    enough = len(rates) > 2 and rate.request.ran >= LEAST_STEPS
    nearly_all = len(idle) >= _NEARLY_ALL * len(rates)
    return enough and rate.usual in idle and _is_unmoved(rate.request, since=1 - _NEARLY_ALL if nearly_all else 0.0)


def _is_unmoved(request: Request, *, since: float = 0.0) -> bool:
    """Whether the loss ends where it was at first, or after a share of the steps.

    Of late steps few are kept, and their batches differ: three times what the few differ by by chance is no movement.
    """
    all_known = known = losses(request)
    late = [n for n, step in enumerate(request.steps) if step >= since * request.ran]  # early ones are kept more often
    known = known[late[0] if late and len(request.steps) == len(known) else int(since * len(known)) :]
    early = known[: max(1, len(known) // 4)]
    spread = statistics.pstdev(known if len(known) > 2 else all_known)
    noise = 3 * spread * math.sqrt(1 / len(early) + 1 / len(known)) if since else 0.0
    return last_loss(request) >= _UNMOVED * sum(early) / len(early) - noise
