"""Where the last layer, the loss and the targets of a training do not fit one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from math import inf
from typing import Final

from whygrad.graph.failure import FailureKind
from whygrad.graph.learning import CROSS_ENTROPIES, Activation, LayerFacts, LayerKind, LossKind, Objective, Values
from whygrad.graph.questions.progress import no_better_than_constant
from whygrad.graph.recording import Recording

# What an activation can give at least and at most.
RANGES: Final = {
    Activation.SIGMOID: (0.0, 1.0),
    Activation.SOFTMAX: (0.0, 1.0),
    Activation.TANH: (-1.0, 1.0),
    Activation.COSINE: (-1.0, 1.0),
    Activation.RELU: (0.0, inf),
    Activation.RELU6: (0.0, 6.0),
    Activation.ELU: (-1.0, inf),
    Activation.SELU: (-1.758, inf),
    Activation.GELU: (-0.17, inf),
    Activation.SILU: (-0.2785, inf),
    Activation.SOFTPLUS: (0.0, inf),
    Activation.SOFTSIGN: (-1.0, 1.0),
    Activation.HARD_SIGMOID: (0.0, 1.0),
    Activation.EXPONENTIAL: (0.0, inf),
    Activation.SQUARE: (0.0, inf),
    Activation.ABSOLUTE: (0.0, inf),
}
_PROBABILITIES: Final = (Activation.SIGMOID, Activation.SOFTMAX)
_NO_PROBABILITIES: Final = (Activation.LINEAR, Activation.TANH, Activation.RELU, Activation.COSINE)
_FEW_CLASSES: Final = 64  # whole numbers from so few different ones may be classes
_MARGIN: Final = 0.02  # of the range of the targets: what is further out is no rounding
_LOST: Final = 0.02  # of the variance of the targets: what noise at the end of a range puts outside of it is less
_ENOUGH_ROWS: Final = 64  # each with one class: that the classes exclude one another is no chance then
_NOISE: Final = 0.35  # that people add to labels of 0 and 1 on purpose


class Misfit(Enum):
    """What does not fit; in the order in which one explains another."""

    ONE_UNIT_SOFTMAX = auto()
    CLASSES_AS_ROWS = auto()  # class numbers for a loss that takes rows
    ROWS_AS_CLASSES = auto()  # rows for a loss that takes class numbers
    LABEL_TOO_LARGE = auto()  # a class number without a unit
    LABEL_NEGATIVE = auto()
    EMPTY_ROWS = auto()  # rows of one class each, but for some that have none
    BINARY_ON_CLASSES = auto()  # binary cross-entropy on class numbers above one
    SHAPES_DIFFER = auto()  # units and columns of the targets
    CONTINUOUS_IN_CROSS_ENTROPY = auto()
    ONE_UNIT_CATEGORICAL = auto()  # a distribution over one class
    UNREACHABLE = auto()
    HINGE_ON_PROBABILITY = auto()
    ZERO_IN_MARGIN = auto()  # labels of 0 where a hinge takes -1 and 1
    MANY_LABELS_ONE_SOFTMAX = auto()
    LINEAR_AS_PROBABILITY = auto()
    PROBABILITY_AS_LOGIT = auto()
    RECTIFIED_LOGIT = auto()
    RECTIFIED_BEFORE_SOFTMAX = auto()
    SIGMOID_OVER_CLASSES = auto()
    SIGMOID_PER_CLASS = auto()  # a yes or no for each of several classes that exclude one another
    BINARY_OVER_CLASSES = auto()  # binary cross-entropy over a softmax of exclusive classes
    UNITS_FOR_ONE_TARGET = auto()  # several units that all learn the same number
    STEPS_FOR_ONE_TARGET = auto()  # a prediction for each step of a sequence, one target
    DISTANCE_ON_CLASSES = auto()  # a regression loss on one-hot rows


@dataclass(frozen=True, slots=True)
class Found:
    """A misfit of one loss."""

    objective: Objective
    misfit: Misfit
    layer: LayerFacts | None  # the one to change, where it is a layer
    recording: Recording


def misfits(recording: Recording) -> Iterator[Found]:
    """The first misfit of each loss: what comes after it may be its consequence."""
    for objective in recording.objectives:
        for misfit, applies in _CHECKS:
            if applies(objective, recording):
                layer = _TO_CHANGE.get(misfit, _output)(objective)
                yield Found(objective, misfit, layer, recording)
                break


def _output(objective: Objective) -> LayerFacts | None:
    return objective.output


def _last_recurrent(objective: Objective) -> LayerFacts | None:
    return next((each for each in objective.layers if each.kind is LayerKind.RECURRENT), objective.output)


def one_unit_softmax(objective: Objective) -> LayerFacts | None:
    """A layer that takes a softmax over one element."""
    return next((e for e in objective.layers if e.activation is Activation.SOFTMAX and e.units == 1), None)


def units_of(objective: Objective) -> int | None:
    """How many numbers a prediction has."""
    if objective.predicted.shape:
        return objective.predicted.units
    return objective.layers[0].units if objective.layers else None


def are_class_numbers(targets: Values) -> bool:
    """Whether targets may be the numbers of more than two classes: one whole number for each row."""
    single = len(targets.shape) == 1 or targets.units == 1
    return targets.is_known and targets.whole and single and targets.maximum > 1 and targets.distinct <= _FEW_CLASSES


def are_continuous(targets: Values) -> bool:
    return targets.is_known and not targets.whole and targets.distinct > 2


def _range(objective: Objective) -> tuple[float, float] | None:
    return None if objective.mixed else RANGES.get(objective.activation)


def is_out_of_reach(objective: Objective) -> bool:
    """Whether targets lie where the last activation never gets, more of them or further than by noise."""
    reach, targets = _range(objective), objective.targets
    if reach is None or not targets.is_known or targets.nonfinite:
        return False
    margin = max(_MARGIN * (targets.maximum - targets.minimum), 1e-3)
    beyond = targets.minimum < reach[0] - margin or targets.maximum > reach[1] + margin
    return beyond and (not targets.levels or _is_lost(targets.levels, *reach))


def _is_lost(levels: tuple[float, ...], low: float, high: float) -> bool:
    """Whether the middle of the targets is out of a range, or more than noise of their variance is."""
    missed = [max(low - each, each - high, 0.0) for each in levels]
    mean = sum(levels) / len(levels)
    variance = sum((each - mean) ** 2 for each in levels)
    return missed[len(levels) // 2] > 0 or sum(each**2 for each in missed) > _LOST * variance


def _one_unit(objective: Objective, _: Recording) -> bool:
    if objective.activation is Activation.SOFTMAX and units_of(objective) == 1:
        return True
    return one_unit_softmax(objective) is not None


def _classes_as_rows(objective: Objective, _: Recording) -> bool:
    targets, units = objective.targets, units_of(objective)
    single = len(targets.shape) == 1 or targets.units == 1
    return objective.loss is LossKind.CATEGORICAL and (units or 0) > 1 and single and bool(targets.shape)


def _rows_as_classes(objective: Objective, recording: Recording) -> bool:
    targets, units = objective.targets, units_of(objective)
    if objective.loss is not LossKind.SPARSE or not units or units < 2 or targets.units != units:
        return False
    alike = len(targets.shape) == max(len(objective.predicted.shape), 2)
    return alike and (targets.is_one_hot or (not targets.is_known and _failed(recording)))


def _failed(recording: Recording) -> bool:
    return recording.failure is not None and recording.failure.kind in (
        FailureKind.LABELS_MISFIT,
        FailureKind.LABELS_LARGER,
        FailureKind.SHAPES_DIFFER,
    )


def _too_large(objective: Objective, _: Recording) -> bool:
    units, targets = units_of(objective), objective.targets
    known = targets.is_known and not objective.ignores
    return objective.loss is LossKind.SPARSE and known and bool(units) and targets.maximum >= (units or 0)


def _negative(objective: Objective, _: Recording) -> bool:
    known = objective.targets.is_known and not objective.ignores
    return objective.loss is LossKind.SPARSE and known and objective.targets.minimum < 0


def _empty_rows(objective: Objective, _: Recording) -> bool:
    """Some rows have no class at all, none has two."""
    targets = objective.targets
    many = (targets.units or 0) > 1 and len(targets.shape) > 1 and targets.units == units_of(objective)
    exclusive = objective.activation is Activation.SOFTMAX or objective.loss is LossKind.CATEGORICAL
    return exclusive and objective.loss in CROSS_ENTROPIES and many and targets.ones == (0, 1)


def _binary_on_classes(objective: Objective, _: Recording) -> bool:
    return objective.loss is LossKind.BINARY and are_class_numbers(objective.targets)


def _shapes_differ(objective: Objective, recording: Recording) -> bool:
    """Rows of another width than the prediction, where the framework refused them."""
    targets, units = objective.targets, units_of(objective)
    by_hand = objective.loss is LossKind.OTHER  # it may take class numbers, one for each step
    like_targets = len(objective.predicted.shape) == len(targets.shape)
    if not _failed(recording) or not targets.shape or units is None or (by_hand and not like_targets):
        return False
    width = targets.units if len(targets.shape) > 1 else 1
    return width != units and objective.loss is not LossKind.SPARSE


def _continuous_in_cross_entropy(objective: Objective, _: Recording) -> bool:
    targets = objective.targets
    outside = targets.maximum > 1 + _NOISE or targets.minimum < -_NOISE  # noisy labels lie a little beyond
    if objective.loss is LossKind.SPARSE:
        return are_continuous(targets)
    return objective.loss in CROSS_ENTROPIES and outside and (are_continuous(targets) or targets.minimum < 0)


def _one_unit_categorical(objective: Objective, _: Recording) -> bool:
    exclusive = objective.loss in (LossKind.CATEGORICAL, LossKind.SPARSE)
    return exclusive and units_of(objective) == 1


def _unreachable(objective: Objective, _: Recording) -> bool:
    return objective.loss is LossKind.REGRESSION and is_out_of_reach(objective)


def _hinge_on_probability(objective: Objective, _: Recording) -> bool:
    """Zeros and ones count as -1 and 1 there."""
    both = objective.targets.is_known and objective.targets.minimum <= 0 and objective.targets.distinct > 1
    reach = _range(objective)
    return objective.loss is LossKind.HINGE and both and reach is not None and reach[0] >= 0


def _zero_in_margin(objective: Objective, _: Recording) -> bool:
    targets = objective.targets
    return objective.loss is LossKind.MARGIN and targets.is_binary and targets.minimum == 0 and targets.maximum == 1


def _many_labels(objective: Objective, _: Recording) -> bool:
    targets = objective.targets
    return (
        objective.activation is Activation.SOFTMAX
        and objective.loss in (LossKind.BINARY, LossKind.CATEGORICAL)
        and targets.ones is not None
        and targets.ones[1] > 1
        and targets.units == units_of(objective)
    )


def _linear_as_probability(objective: Objective, _: Recording) -> bool:
    taken = (*CROSS_ENTROPIES, LossKind.DIVERGENCE)
    if objective.loss not in taken or objective.from_logits or objective.activation in _PROBABILITIES:
        return False
    if objective.activation in _NO_PROBABILITIES and objective.loss is not LossKind.DIVERGENCE:
        return True
    return any(each.is_known and (each.minimum < 0 or each.maximum > 1) for each in objective.predictions)


def _probability_as_logit(objective: Objective, _: Recording) -> bool:
    return objective.loss in CROSS_ENTROPIES and objective.from_logits and objective.activation in _PROBABILITIES


def _rectified_logit(objective: Objective, _: Recording) -> bool:
    return objective.loss in CROSS_ENTROPIES and objective.from_logits and objective.activation is Activation.RELU


def _rectified_before_softmax(objective: Objective, _: Recording) -> bool:
    return _rectified_scores(objective) is not None


def _rectified_scores(objective: Objective) -> LayerFacts | None:
    """The layer with a rectifier whose result goes into the last activation."""
    last = objective.output
    if last is None or last.kind is not LayerKind.ACTIVATION or last.activation not in _PROBABILITIES:
        return None
    at = objective.layers.index(last)
    before = [each for each in objective.layers if each.into == at]
    rectified = len(before) == 1 and before[0].activation is Activation.RELU and before[0].kind is not LayerKind.OTHER
    return before[0] if rectified else None


def _sigmoid_over_classes(objective: Objective, _: Recording) -> bool:
    exclusive = objective.loss in (LossKind.CATEGORICAL, LossKind.SPARSE)
    return objective.activation is Activation.SIGMOID and exclusive and (units_of(objective) or 0) > 1


def _sigmoid_per_class(objective: Objective, recording: Recording) -> bool:
    """It trains, but no to all classes looks right: told where a metric shows it so, or where nothing is learned.

    Where the same column is right in every row, these are no classes: one pair against several that were drawn.
    """
    targets, units = objective.targets, units_of(objective) or 0
    own = objective.activation is Activation.SIGMOID or (objective.from_logits and _is_linear(objective))
    each = objective.loss is LossKind.BINARY and own and units > 2 and targets.units == units and targets.is_one_hot
    each = each and not targets.alike
    flattered = any(metric.name.lower() == "binary_accuracy" for metric in objective.metrics)
    return each and targets.rows >= _ENOUGH_ROWS and (flattered or no_better_than_constant(recording, objective))


def _is_linear(objective: Objective) -> bool:
    return objective.activation is Activation.LINEAR


def _binary_over_classes(objective: Objective, _: Recording) -> bool:
    """With two units both cross-entropies are the same."""
    over = objective.activation is Activation.SOFTMAX and (units_of(objective) or 0) > 2
    return objective.loss is LossKind.BINARY and over and objective.targets.is_one_hot


def _units_for_one_target(objective: Objective, _: Recording) -> bool:
    targets, shape = objective.targets, objective.predicted.shape
    single = len(targets.shape) == 1 or (len(targets.shape) == 2 and targets.units == 1)
    wide = _is_wide(shape) and _units_of_layer(objective) in (None, shape[-1])  # else no layer gives that many
    return objective.loss is LossKind.REGRESSION and targets.is_known and single and wide


def _units_of_layer(objective: Objective) -> int | None:
    return None if objective.output is None else objective.output.units


def _is_wide(shape: tuple[int | None, ...]) -> bool:
    return len(shape) == 2 and (shape[-1] or 0) > 1


def _steps_for_one_target(objective: Objective, _: Recording) -> bool:
    targets, shape = objective.targets, objective.predicted.shape
    per_step = len(shape) == 3 and (shape[1] or 0) > 1
    return targets.is_known and per_step and (len(targets.shape) == 1 or targets.shape[1:] == (1,))


def _distance_on_classes(objective: Objective, _: Recording) -> bool:
    return objective.loss is LossKind.REGRESSION and objective.targets.is_one_hot and _is_classifier(objective)


def _is_classifier(objective: Objective) -> bool:
    return objective.activation in _PROBABILITIES


_CHECKS: Final[tuple[tuple[Misfit, Callable[[Objective, Recording], bool]], ...]] = (
    (Misfit.ONE_UNIT_SOFTMAX, _one_unit),
    (Misfit.CLASSES_AS_ROWS, _classes_as_rows),
    (Misfit.ROWS_AS_CLASSES, _rows_as_classes),
    (Misfit.CONTINUOUS_IN_CROSS_ENTROPY, _continuous_in_cross_entropy),
    (Misfit.LABEL_TOO_LARGE, _too_large),
    (Misfit.LABEL_NEGATIVE, _negative),
    (Misfit.EMPTY_ROWS, _empty_rows),
    (Misfit.BINARY_ON_CLASSES, _binary_on_classes),
    (Misfit.SHAPES_DIFFER, _shapes_differ),
    (Misfit.ONE_UNIT_CATEGORICAL, _one_unit_categorical),
    (Misfit.UNREACHABLE, _unreachable),
    (Misfit.HINGE_ON_PROBABILITY, _hinge_on_probability),
    (Misfit.ZERO_IN_MARGIN, _zero_in_margin),
    (Misfit.MANY_LABELS_ONE_SOFTMAX, _many_labels),
    (Misfit.LINEAR_AS_PROBABILITY, _linear_as_probability),
    (Misfit.PROBABILITY_AS_LOGIT, _probability_as_logit),
    (Misfit.RECTIFIED_LOGIT, _rectified_logit),
    (Misfit.RECTIFIED_BEFORE_SOFTMAX, _rectified_before_softmax),
    (Misfit.SIGMOID_OVER_CLASSES, _sigmoid_over_classes),
    (Misfit.SIGMOID_PER_CLASS, _sigmoid_per_class),
    (Misfit.BINARY_OVER_CLASSES, _binary_over_classes),
    (Misfit.UNITS_FOR_ONE_TARGET, _units_for_one_target),
    (Misfit.STEPS_FOR_ONE_TARGET, _steps_for_one_target),
    (Misfit.DISTANCE_ON_CLASSES, _distance_on_classes),
)

_TO_CHANGE: Final[dict[Misfit, Callable[[Objective], LayerFacts | None]]] = {
    Misfit.ONE_UNIT_SOFTMAX: one_unit_softmax,
    Misfit.STEPS_FOR_ONE_TARGET: _last_recurrent,
    Misfit.RECTIFIED_BEFORE_SOFTMAX: _rectified_scores,
}
