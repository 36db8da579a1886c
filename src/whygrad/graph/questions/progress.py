"""Whether a training gets anywhere: its loss over the steps, against the best answer that ignores its input."""

from __future__ import annotations

import math
from typing import Final

from whygrad.graph.learning import LossKind, Objective
from whygrad.graph.recording import Recording, Request
from whygrad.source.module import in_one_function

LEAST_STEPS: Final = 20  # fewer say nothing about what is learned
NO_BETTER: Final = 0.93  # of the loss of a constant answer: less than this has learned something
_FAR: Final = 10.0  # times the loss of a constant answer
_SAME: Final = 0.95  # of an earlier loss: less than this is falling
_NEXT_TO_NOTHING: Final = 0.1  # of the first loss: a training that got there is done
_MAE_OF_DEVIATION: Final = 0.6  # the mean absolute deviation is a larger share of the deviation, whatever is spread how


def request_of(recording: Recording, objective: Objective) -> Request | None:
    """The gradients that the training of a loss asks for."""
    asked = [each for each in recording.requests if each.losses]
    if objective.trained is not None:
        return next((each for each in asked if each.where == objective.trained), None) or _near(asked, objective)
    return _near(asked, objective)


def _near(asked: list[Request], objective: Objective) -> Request | None:
    where = objective.where
    near = [each for each in asked if where and each.where and in_one_function(where, each.where)]
    found = near or asked
    return found[0] if len({each.where for each in found}) == 1 else None


def is_trained_by(recording: Recording, objective: Objective, request: Request) -> bool:
    """Whether these gradients train this loss."""
    own = request_of(recording, objective)
    return own is not None and own.where == request.where


def losses(request: Request) -> list[float]:
    """Of the steps that were kept; the first and the latest are among them."""
    return [each for each in request.losses if math.isfinite(each)]


def last_loss(request: Request) -> float:
    """Of the last quarter of the steps, on average."""
    found = losses(request)
    late = found[-max(1, len(found) // 4) :]
    return sum(late) / len(late) if late else math.nan


def of_constant(objective: Objective) -> float | None:
    """The least loss that an answer has which is the same for every input; None: not known."""
    targets = objective.targets
    if not targets.is_known or targets.nonfinite:
        return None
    if objective.loss is LossKind.BINARY and targets.is_binary and 0 < targets.mean < 1:
        share = targets.mean
        return -share * math.log(share) - (1 - share) * math.log(1 - share)
    if objective.loss is LossKind.SPARSE and targets.distinct > 1:
        return math.log(targets.distinct)  # where all classes are as frequent
    if objective.loss is LossKind.CATEGORICAL and targets.is_one_hot:
        return math.log(targets.units or 1)
    if objective.loss is LossKind.REGRESSION:
        factor = {"mean_squared_error": targets.deviation, "mean_absolute_error": _MAE_OF_DEVIATION}
        return factor[objective.name] * targets.deviation if objective.name in factor else None
    return None


def no_better_than_constant(recording: Recording, objective: Objective, share: float = NO_BETTER) -> bool:
    """Whether a training of enough steps has a loss that one answer for every input would have too, but for a share."""
    request, constant = request_of(recording, objective), of_constant(objective)
    if request is None or constant is None or request.ran < LEAST_STEPS:
        return False
    return not last_loss(request) < share * constant


def starts_far_off(recording: Recording, objective: Objective) -> bool:
    """Whether the first loss is many times that of a constant answer: the outputs are that far from the targets."""
    request, constant = request_of(recording, objective), of_constant(objective)
    known = [] if request is None else losses(request)
    return bool(known) and constant is not None and known[0] > _FAR * constant


def is_done(request: Request) -> bool:
    """Whether the loss has fallen to next to nothing of what it was."""
    found = losses(request)
    return len(found) > 1 and last_loss(request) <= _NEXT_TO_NOTHING * max(found[:3])


def stands_still(request: Request) -> bool:
    """Whether the loss is the same in the last quarter of the steps as in the one before; not where it is done."""
    found = losses(request)
    if len(found) < 4 or is_done(request):
        return False
    quarter = len(found) // 4
    earlier = found[-2 * quarter : -quarter]
    return last_loss(request) >= _SAME * sum(earlier) / len(earlier)
