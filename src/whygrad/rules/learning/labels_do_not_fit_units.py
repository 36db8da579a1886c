"""WG806 labels-do-not-fit-units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording
from whygrad.graph.learning import LossKind
from whygrad.graph.questions.misfit import Found, Misfit, misfits, units_of
from whygrad.rules.learning.refusal import refusal
from whygrad.rules.learning.saying import found_of, output_name, said, shape_text, stretch
from whygrad.rules.rule import Finding, rule


@rule("WG806", "labels-do-not-fit-units", severity=Severity.ERROR, since="0.2.0")
def labels_do_not_fit_units(recording: Recording) -> Iterator[Finding]:
    """Detects labels that the units of the last layer have no place for.

    ## Why it matters
    A class number `k` stands for unit `k`, counted from 0: seven units have the classes 0 to 6, and a label of 7 is an
    error, or NaN on a GPU. A one-hot row stands for all units at once. Which of the two a loss takes is in its name;
    given the other, shapes differ, or are broadcast against one another without a word. Binary cross-entropy takes 0
    and 1: `-(y log p + (1 - y) log(1 - p))` of a label of 3 falls without end as `p` goes to 1.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = x[:, :3].argmax(1)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = x[:, :3].argmax(1)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Targets that come from a data set are known by the batches that were looked at.
    """
    for found in found_of(recording, *_SAID):
        yield _SAID[found.misfit](found)
    failure = recording.failure
    refused = None if failure is None or any(misfits(recording)) else refusal(failure)
    if failure is not None and refused is not None:
        raised = None if failure.where is None else Label(failure.where, "raised here")
        output = _output(recording) if failure.label is not None else None
        yield Finding(
            message=refused[0],
            primary=output or raised,
            related=() if output is None or raised is None else (raised,),
            help=refused[1],
        )


def _output(recording: Recording) -> Label | None:
    """The layer that has too few units, where there is one training."""
    outputs = {objective.layers[0] for objective in recording.objectives if objective.layers}
    only = outputs.pop() if len(outputs) == 1 else None
    return None if only is None or only.made is None or only.units is None else Label(only.made, f"{only.units} units")


def _classes_as_rows(found: Found) -> Finding:
    shape = shape_text(found.objective.targets)
    return said(
        found,
        f"`{found.objective.name}` takes one-hot rows, and is given class numbers of shape {shape}",
        label="this loss compares whole rows",
        help=f"`{Word.SPARSE_CROSS_ENTROPY}`, which takes class numbers; or turn the labels into one-hot rows",
        at_loss=True,
    )


def _rows_as_classes(found: Found) -> Finding:
    targets = found.objective.targets
    return said(
        found,
        f"`{found.objective.name}` takes class numbers, and is given one-hot rows of shape {shape_text(targets)}",
        label="this loss takes one number for each example",
        help=f"`{Word.CATEGORICAL_CROSS_ENTROPY}`, which takes rows; or pass the `argmax` of the rows",
        at_loss=True,
    )


def _no_unit(found: Found) -> Finding:
    objective, units = found.objective, units_of(found.objective) or 0
    targets = objective.targets
    shifted = targets.minimum == 1 and targets.maximum == units
    instead = "subtract 1 from the labels: classes count from 0" if shifted else f"{targets.maximum + 1:.0f} units"
    if targets.minimum < 0:
        instead = "use labels that start at 0; mask a label for padding, or give it the weight 0"
    return said(
        found,
        f"{output_name(found.layer, objective)} has the classes 0 to {units - 1}, but the labels go from "
        f"{stretch(targets)}",
        label=f"{units} unit{'s' * (units != 1)}",
        help=instead,
    )


def _empty_rows(found: Found) -> Finding:
    objective = found.objective
    return said(
        found,
        f"some rows of the targets have no class at all: nothing is learned from them by `{objective.name}`",
        label=f"{units_of(objective)} classes, and rows without any",
        notes=("a one-hot code of labels from 1 to n has no column for the last of them",),
        help="subtract 1 from the labels before they are made into rows, or make one more column and unit",
        severity=Severity.WARNING,
    )


def _binary_on_classes(found: Found) -> Finding:
    objective, targets = found.objective, found.objective.targets
    count, two = int(targets.maximum) + 1, targets.distinct == 2
    given = f"only {targets.minimum:g} and {targets.maximum:g}" if two else f"class numbers from {stretch(targets)}"
    return said(
        found,
        f"`{objective.name}` takes labels of 0 and 1, and is given {given}",
        label="a label above 1 has no probability: the loss falls without limit",
        help=f"labels of 0 and 1: divide them by {targets.maximum:g}, or compare them with a number"
        if two
        else f"`{Word.SPARSE_CROSS_ENTROPY}`, with {count} units and `softmax` in the last layer",
        at_loss=True,
    )


def _shapes_differ(found: Found) -> Finding:
    objective, targets = found.objective, found.objective.targets
    width = targets.units if len(targets.shape) > 1 else 1
    units = units_of(objective)
    many = f"{width} unit{'s' * (width != 1)} in the last layer"
    return said(
        found,
        f"{output_name(found.layer, objective)} gives {units} number{'s' * (units != 1)} for each example, the targets "
        f"have {width}",
        label=f"{units} unit{'s' * (units != 1)}",
        notes=(f"the targets have shape {shape_text(targets)}",),
        help=f"{many}; or one column of labels" if objective.loss is LossKind.BINARY else many,
    )


def _units_for_one_target(found: Found) -> Finding:
    objective, units = found.objective, units_of(found.objective)
    return said(
        found,
        f"all {units} units of {output_name(found.layer, objective)} learn the same number: the targets have one for "
        "each example",
        label=f"{units} units, one target",
        help="one unit in the last layer",
        severity=Severity.WARNING,
    )


def _steps_for_one_target(found: Found) -> Finding:
    objective = found.objective
    predicted = objective.predicted
    return said(
        found,
        f"{output_name(objective.output, objective)} gives one prediction for each of {predicted.shape[1]} steps, and all are "
        "compared with the one target of the example",
        label=f"shape {shape_text(predicted)}, targets {shape_text(objective.targets)}",
        help="keep only the last step (`return_sequences=False`), or pass a target for each step",
        severity=Severity.WARNING,
    )


_SAID: Final[dict[Misfit, Callable[[Found], Finding]]] = {
    Misfit.CLASSES_AS_ROWS: _classes_as_rows,
    Misfit.ROWS_AS_CLASSES: _rows_as_classes,
    Misfit.LABEL_TOO_LARGE: _no_unit,
    Misfit.LABEL_NEGATIVE: _no_unit,
    Misfit.EMPTY_ROWS: _empty_rows,
    Misfit.BINARY_ON_CLASSES: _binary_on_classes,
    Misfit.SHAPES_DIFFER: _shapes_differ,
    Misfit.UNITS_FOR_ONE_TARGET: _units_for_one_target,
    Misfit.STEPS_FOR_ONE_TARGET: _steps_for_one_target,
}
