"""What is changed where a layer, a loss and its targets do not fit one another."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Fix, Word
from whygrad.fixes.outputs import last_step_only, output_changed
from whygrad.graph.learning import Activation, LossKind
from whygrad.graph.questions.misfit import Found, Misfit
from whygrad.source import SourceSpan


def remedies(found: Found, layer: SourceSpan | None, loss: SourceSpan | None) -> Iterator[Fix]:
    """The fixes of a misfit, made of what was seen of the targets."""
    objective, targets = found.objective, found.objective.targets
    end = "sigmoid" if objective.loss is LossKind.BINARY else "softmax"
    match found.misfit:
        case Misfit.ONE_UNIT_SOFTMAX if found.layer is objective.output and targets.is_binary:
            yield from output_changed(layer, loss, activation="sigmoid")
        case Misfit.CLASSES_AS_ROWS:
            yield from output_changed(layer, loss, named=Word.SPARSE_CROSS_ENTROPY)
        case Misfit.ROWS_AS_CLASSES | Misfit.BINARY_OVER_CLASSES | Misfit.DISTANCE_ON_CLASSES:
            yield from output_changed(layer, loss, named=Word.CATEGORICAL_CROSS_ENTROPY)
        case Misfit.LABEL_TOO_LARGE if targets.minimum == 0:
            yield from output_changed(layer, loss, units=int(targets.maximum) + 1)
        case Misfit.BINARY_ON_CLASSES if targets.distinct > 2 and targets.minimum == 0:
            units = int(targets.maximum) + 1
            yield from output_changed(layer, loss, activation="softmax", units=units, named=Word.SPARSE_CROSS_ENTROPY)
        case Misfit.CONTINUOUS_IN_CROSS_ENTROPY:
            yield from output_changed(layer, loss, activation="", named=Word.SQUARED_ERROR)
        case (
            Misfit.UNREACHABLE | Misfit.HINGE_ON_PROBABILITY | Misfit.RECTIFIED_LOGIT | Misfit.RECTIFIED_BEFORE_SOFTMAX
        ):
            yield from output_changed(layer, loss, activation="")
        case Misfit.MANY_LABELS_ONE_SOFTMAX:
            yield from output_changed(layer, loss, activation="sigmoid", named=Word.BINARY_CROSS_ENTROPY)
        case Misfit.LINEAR_AS_PROBABILITY:
            if objective.activation is Activation.LINEAR:
                yield from output_changed(layer, loss, option=("from_logits", "True"))
            yield from output_changed(layer, loss, activation=end)
        case Misfit.PROBABILITY_AS_LOGIT:
            yield from output_changed(layer, loss, option=("from_logits", "False"))
            yield from output_changed(layer, loss, activation="")
        case Misfit.SIGMOID_OVER_CLASSES if targets.ones is None or targets.ones[1] == 1:
            yield from output_changed(layer, loss, activation="softmax")
        case Misfit.UNITS_FOR_ONE_TARGET:
            yield from output_changed(layer, loss, units=1)
        case Misfit.STEPS_FOR_ONE_TARGET:
            yield from last_step_only(each.made for each in objective.layers)
