"""What is said of a training that ended since labels and predictions do not fit, where nothing more is known of it."""

from __future__ import annotations

from typing import Final

from whygrad.diagnostics import Word
from whygrad.graph import Action, Failure, FailureKind
from whygrad.source import source_text

_COMPARING: Final = (Action.SUBTRACT, Action.SQUARED_DIFFERENCE)
_COMPARE: Final = (
    "compare the labels with the units of the last layer: class numbers from 0 to units - 1 for "
    f"`{Word.SPARSE_CROSS_ENTROPY}`, one column for each unit for the other losses"
)


def refusal(failure: Failure) -> tuple[str, str] | None:
    """What does not fit, and what to do; None where the exception is about something else."""
    if failure.kind is FailureKind.LABELS_MISFIT:
        return _label(*failure.label) if failure.label is not None else (_shapes(failure), _COMPARE)
    if failure.kind is FailureKind.LABELS_OF_OTHER_TYPE and _is_of_loss(failure):
        return (
            "the labels are of another type than the loss takes: whole numbers where it computes with fractions, or "
            "fractions where it takes the numbers of classes",
            "convert the labels before they are compared: to `int32` for the numbers of classes, else to `float32`",
        )
    if failure.kind is FailureKind.ROWS_DIFFER:
        return "inputs and targets have different numbers of rows", "take both from the same rows"
    if failure.kind is FailureKind.SHAPES_DIFFER and failure.action in _COMPARING and _is_of_widths(failure):
        wide, narrow = (shape[-1] for shape in failure.shapes)
        return (
            f"predictions and targets do not have the same width: {wide} and {narrow} numbers for each example",
            "as many units in the last layer as the targets have columns",
        )
    return None


def _label(label: int, classes: int) -> tuple[str, str]:
    below = label < 0
    return (
        f"a label is {label}, and there are the classes 0 to {classes - 1}",
        "use labels that start at 0; mask a label for padding, or give it the weight 0"
        if below
        else f"{label + 1} units in the last layer, or labels that count from 0",
    )


def _shapes(failure: Failure) -> str:
    if len(failure.shapes) != 2:
        return "the loss refuses its labels: they have another shape than the predictions, or a class without a unit"
    labels, predictions = (f"({', '.join('?' if n is None else str(n) for n in shape)})" for shape in failure.shapes)
    return f"the loss refuses its labels: they have the shape {labels}, and the predictions have {predictions}"


def _is_of_loss(failure: Failure) -> bool:
    """By the words of the expression that raised, or of what it called."""
    text = f"{failure.called} {source_text(failure.where) if failure.where is not None else ''}".lower()
    return any(word in text for word in ("entropy", "loss"))


def _is_of_widths(failure: Failure) -> bool:
    """Whether two batches of the same rows differ in what each row has."""
    if len(failure.shapes) != 2 or not all(failure.shapes):
        return False
    one, other = failure.shapes
    return len(one) == len(other) > 1 and one[:-1] == other[:-1] and None not in (one[-1], other[-1])
