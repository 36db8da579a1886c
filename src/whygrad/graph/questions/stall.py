"""Why a training whose output, loss and labels fit does not learn all the same: data, rates, layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from whygrad.graph.learning import CROSS_ENTROPIES, Activation, LayerFacts, LayerKind, LossKind, Objective, Values
from whygrad.graph.nonfinite import Nonfinite, Stage
from whygrad.graph.questions.misfit import misfits, units_of
from whygrad.graph.questions.progress import (
    LEAST_STEPS,
    last_loss,
    losses,
    no_better_than_constant,
    of_constant,
    request_of,
    stands_still,
    starts_far_off,
)
from whygrad.graph.questions.rates import is_long, is_too_large, is_too_small, rate_of
from whygrad.graph.recording import Recording

LARGE: Final = 100.0  # a magnitude of inputs or targets; initial weights expect something around one
_STRAIGHT: Final = 0.8  # of the loss of a constant answer: a straight line that is above has not separated much
_GROWN: Final = 1.5  # times the first loss; batches differ by less
_ALIKE: Final = 1e-3  # of the range of the targets: outputs that differ by less are the same
_RARE: Final = 0.1  # the share of a class that a constant answer does without
_FLAT: Final = (Activation.SIGMOID, Activation.TANH)  # for large numbers
_LEAST_RARE: Final = 5  # examples of a rare class that were there to be answered
_LEAST_ROWS: Final = 8  # of a batch whose outputs are compared
_MANY_ROWS: Final = 128  # of targets that were seen in batches: so many that are all the same are no chance
_MANY_LOOKS: Final = 4
_LINEAR: Final = (LayerKind.DENSE, LayerKind.CONVOLUTION)
_LETTING: Final = (LayerKind.DROPOUT, LayerKind.ARRANGING, LayerKind.SCALING, LayerKind.ACTIVATION)


class Stall(Enum):
    """What keeps a training from learning; in the order in which one explains another."""

    FRACTIONS_INTO_EMBEDDING = auto()
    CONSTANT_TARGETS = auto()
    CONSTANT_INPUTS = auto()
    UNSCALED_INPUTS = auto()
    UNSCALED_TARGETS = auto()
    RATE_TOO_LARGE = auto()
    RATE_TOO_SMALL = auto()
    LINEAR_STACK = auto()
    COLLAPSED = auto()
    ONE_ANSWER = auto()  # a rare class is never answered


_SIZES: Final = (Stall.UNSCALED_INPUTS, Stall.UNSCALED_TARGETS)
DIVERGING: Final = (*_SIZES, Stall.RATE_TOO_LARGE)  # that let a loss grow
# What weights that are NaN look like, or what is not worth saying beside them.
_BEHIND_NAN: Final = (*_SIZES, Stall.LINEAR_STACK, Stall.COLLAPSED, Stall.ONE_ANSWER)
_RATES: Final = (Stall.RATE_TOO_LARGE, Stall.RATE_TOO_SMALL)


@dataclass(frozen=True, slots=True)
class Stalled:
    """A training that does not learn."""

    objective: Objective
    stall: Stall


def stalls(recording: Recording) -> Iterator[Stalled]:
    """The first reason of each training that has no misfit; a rate is not to blame where another loss has a reason."""
    unfit = {id(found.objective): found.objective for found in misfits(recording)}
    known = {_training(each) for each in recording.objectives if each.loss is not LossKind.OTHER}
    fit = [each for each in recording.objectives if id(each) not in unfit]
    fit = [each for each in fit if each.loss is not LossKind.OTHER or _training(each) not in known]
    found = [first for each in fit if (first := _first(recording, each)) is not None]
    explained = {_training(each) for each in unfit.values()}
    explained |= {_training(each.objective) for each in found if each.stall not in _RATES}
    return (each for each in found if each.stall not in _RATES or _training(each.objective) not in explained)


def _first(recording: Recording, objective: Objective) -> Stalled | None:
    behind = _BEHIND_NAN if _ended_in_nan(recording) else ()
    checks = ((stall, applies) for stall, applies in _CHECKS if stall not in behind)
    return next((Stalled(objective, stall) for stall, applies in checks if applies(recording, objective)), None)


def _ended_in_nan(recording: Recording) -> bool:
    """Whether a NaN ended the learning, made by an op or in the data: its own rule says so, whatever else there is."""
    ending = (Stage.BORN, Stage.ENTERED)
    return any(event.stage in ending and not event.when.went_on for event in recording.events_of(Nonfinite))


def _training(objective: Objective) -> object:
    return objective.trained or id(objective)


def entries(objective: Objective) -> list[LayerFacts]:
    """The layers that are given the inputs, those passed over that only arrange them."""
    fed = {each.into for each in objective.layers}
    found = [each for at, each in enumerate(objective.layers) if at not in fed]
    for at, layer in enumerate(found):
        while layer.kind in (LayerKind.ARRANGING, LayerKind.POOLING, LayerKind.DROPOUT) and layer.into is not None:
            layer = objective.layers[layer.into]
        found[at] = layer
    return found


def linear_stack(objective: Objective) -> list[LayerFacts]:
    """The layers of a network in which nothing bends: several maps in a row that are one together; else none."""
    way = objective.layers
    maps = [each for each in reversed(way) if each.kind in _LINEAR]
    in_a_row = all(each.into == (at - 1 if at else None) and not each.shared for at, each in enumerate(way))
    hidden = [each for each in way if each is not objective.output]
    plain = all(each.kind in (*_LINEAR, *_LETTING) and each.activation is Activation.LINEAR for each in hidden)
    return maps if in_a_row and plain and len(maps) > 1 else []


def looks_up_inputs(layer: LayerFacts) -> bool:
    return layer.kind is LayerKind.EMBEDDING and not layer.positions


def _fractions(recording: Recording, objective: Objective) -> bool:
    """Every input is one and goes into one layer, or all of them go into embeddings."""
    embeds = [looks_up_inputs(each) for each in entries(objective)]
    fed = [each for each in objective.inputs if each.is_known]
    broken = [not each.whole and not each.nonfinite for each in fed]
    sure = all(embeds) and len(embeds) >= len(objective.inputs)
    sure = sure or (all(broken) and len(embeds) <= len(objective.inputs))
    return any(embeds) and any(broken) and sure and len(fed) == len(objective.inputs)


def _constant_targets(recording: Recording, objective: Objective) -> bool:
    """Of all data, of a loss for classes: what is trained against itself is told apart elsewhere."""
    targets = objective.targets
    same = targets.is_known and targets.rows >= 2 * _LEAST_ROWS and (targets.distinct == 1 or targets.alike)
    if objective.whole:
        return same and objective.loss in CROSS_ENTROPIES
    asked = [{source.variable for source in each.sources} for each in recording.requests]
    if any(one.isdisjoint(other) for one, other in itertools.combinations(asked, 2)):
        return False  # networks that are trained against each other: one is to be told what the other made is right
    others = [each.targets for each in recording.objectives if each is not objective]
    alone = all(each.is_known and each.minimum == each.maximum == targets.minimum for each in others)
    many = targets.rows >= _MANY_ROWS and len(objective.predictions) >= _MANY_LOOKS and objective.steps >= LEAST_STEPS
    return same and targets.minimum == targets.maximum and objective.loss is LossKind.BINARY and alone and many


def _constant_inputs(recording: Recording, objective: Objective) -> bool:
    """All that the model is given is the same in every row, and the targets differ."""
    fed, targets = objective.inputs, objective.targets
    same = bool(fed) and all(each.is_known and each.alike and each.rows >= 2 * _LEAST_ROWS for each in fed)
    return objective.whole and same and targets.is_known and targets.spread > 0


def _unscaled_inputs(recording: Recording, objective: Objective) -> bool:
    plain = (LayerKind.DENSE, LayerKind.CONVOLUTION, LayerKind.RECURRENT)
    if any(each.unadapted for each in objective.layers):
        return any(is_large(each) for each in objective.inputs)
    normal = any(each.kind in (LayerKind.NORMALISATION, LayerKind.SCALING) for each in objective.layers)
    if normal or not objective.layers or any(each.kind not in plain for each in entries(objective)):
        return False
    if not any(is_large(each) for each in objective.inputs):
        return False
    flat = all(each.activation in _FLAT or each.kind is LayerKind.RECURRENT for each in entries(objective))
    return flat or _gets_nowhere(recording, objective) or starts_far_off(recording, objective)


def _unscaled_targets(recording: Recording, objective: Objective) -> bool:
    """The loss has not grown: then the steps are too long, not the way to go."""
    request = request_of(recording, objective)
    distance = objective.loss is LossKind.REGRESSION and is_large(objective.targets)
    if request is None or not distance or not no_better_than_constant(recording, objective):
        return False
    return last_loss(request) <= _GROWN * losses(request)[0]


def is_large(values: Values) -> bool:
    return values.is_known and max(abs(values.minimum), abs(values.maximum)) >= LARGE


def _gets_nowhere(recording: Recording, objective: Objective) -> bool:
    if of_constant(objective) is not None:
        return no_better_than_constant(recording, objective)
    request = request_of(recording, objective)
    return request is not None and request.ran >= LEAST_STEPS and stands_still(request)


def _too_large(recording: Recording, objective: Objective) -> bool:
    request = request_of(recording, objective)
    rate = None if request is None else rate_of(recording, request)
    if rate is None:
        return False
    return is_too_large(rate) or (is_long(rate) and no_better_than_constant(recording, objective))


def _too_small(recording: Recording, objective: Objective) -> bool:
    request = request_of(recording, objective)
    rate = None if request is None else rate_of(recording, request)
    return rate is not None and is_too_small(rate)


def _linear(recording: Recording, objective: Objective) -> bool:
    return bool(linear_stack(objective)) and no_better_than_constant(recording, objective, _STRAIGHT)


def _collapsed(recording: Recording, objective: Objective) -> bool:
    late, targets = objective.predictions[-2:], objective.targets
    if objective.steps < LEAST_STEPS or len(late) < 2 or not targets.is_known or targets.spread <= 0:
        return False
    if not objective.layers:  # what is compared may be no output at all
        return False
    varied = any(not each.alike for each in objective.inputs if each.is_known)
    return varied and all(
        each.rows >= _LEAST_ROWS and not each.nonfinite and each.spread <= _ALIKE * targets.spread for each in late
    )


def _one_answer(recording: Recording, objective: Objective) -> bool:
    """The rare class of two is there, and no output of the last looks is on its side."""
    targets, late = objective.targets, objective.predictions[-3:]
    judged = objective.loss is LossKind.BINARY and not objective.from_logits and units_of(objective) == 1
    if not judged or objective.weighted or not targets.is_binary or not 0 < targets.mean < 1 or len(late) < 3:
        return False
    rare = min(targets.mean, 1 - targets.mean) * sum(each.rows for each in late)
    if objective.steps < LEAST_STEPS or rare < _LEAST_RARE:
        return False
    rare_yes = targets.mean <= _RARE and all(each.maximum < 0.5 for each in late)
    rare_no = targets.mean >= 1 - _RARE and all(each.minimum > 0.5 for each in late)
    return objective.whole and (rare_yes or rare_no)


_CHECKS: Final[tuple[tuple[Stall, Callable[[Recording, Objective], bool]], ...]] = (
    (Stall.FRACTIONS_INTO_EMBEDDING, _fractions),
    (Stall.CONSTANT_TARGETS, _constant_targets),
    (Stall.CONSTANT_INPUTS, _constant_inputs),
    (Stall.UNSCALED_INPUTS, _unscaled_inputs),
    (Stall.UNSCALED_TARGETS, _unscaled_targets),
    (Stall.RATE_TOO_LARGE, _too_large),
    (Stall.RATE_TOO_SMALL, _too_small),
    (Stall.LINEAR_STACK, _linear),
    (Stall.COLLAPSED, _collapsed),
    (Stall.ONE_ANSWER, _one_answer),
)
