"""WG807 loss-does-not-fit-task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from whygrad.diagnostics import Severity, Word
from whygrad.graph import Recording
from whygrad.graph.questions.misfit import Found, Misfit, units_of
from whygrad.graph.questions.progress import no_better_than_constant
from whygrad.rules.learning.saying import found_of, said, stretch
from whygrad.rules.rule import Finding, rule

_HARDLY: Final = 0.85  # of the loss of a constant answer: a distance that is still above is hardly learned


@rule("WG807", "loss-does-not-fit-task", severity=Severity.WARNING, since="0.2.0")
def loss_does_not_fit_task(recording: Recording) -> Iterator[Finding]:
    """Detects losses for another task than the targets are of: classes measured as distances, or numbers as classes.

    ## Why it matters
    A cross-entropy is `-(y log p + (1 - y) log(1 - p))`: for a target `y` of 7.5 it falls without end as `p` goes to 1,
    and has no minimum where `p` is right. A cross-entropy over a single class is `-log 1 = 0`, whatever comes in. A
    squared error behind a softmax has the factor `p (1 - p)` in its gradient: where the model is sure and wrong
    it is next to zero, and the mistake stays. A hinge `max(0, 1 - y p)` is 1 for every `p` where `y` is 0.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = 5.0 + x[:, :1]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = 5.0 + x[:, :1]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    A squared error on one-hot rows is a note: it does learn, if slowly. What a loss of the user's own is for, is not
    known.
    """
    for found in found_of(recording, *_SAID):
        yield _SAID[found.misfit](found)
    for found in found_of(recording, Misfit.DISTANCE_ON_CLASSES):
        stuck = no_better_than_constant(recording, found.objective, _HARDLY)
        yield replace(_distance(found), severity=Severity.WARNING if stuck else Severity.NOTE)


def _continuous(found: Found) -> Finding:
    targets = found.objective.targets
    return said(
        found,
        f"`{found.objective.name}` takes labels of classes, and is given plain numbers from {stretch(targets)}",
        label="a loss for classes",
        help=f"a loss that measures a distance (`{Word.SQUARED_ERROR}`), and no activation in the last layer",
        at_loss=True,
        severity=Severity.ERROR,
    )


def _one_class(found: Found) -> Finding:
    targets = found.objective.targets
    numbers = targets.is_known and targets.maximum > 1
    return said(
        found,
        f"`{found.objective.name}` over a single unit is always the same: one class has a probability of 1",
        label="a loss over several classes",
        help=f"one unit for each class ({targets.maximum + 1:.0f})"
        if numbers
        else f"`{Word.BINARY_CROSS_ENTROPY}`, with `sigmoid` in the last layer",
        at_loss=True,
        severity=Severity.ERROR,
    )


def _binary_over_classes(found: Found) -> Finding:
    units = units_of(found.objective)
    return said(
        found,
        f"`{found.objective.name}` judges each of {units} classes by itself, where exactly one is right: answering no to "
        f"all of them is already {1 - 1 / (units or 1):.0%} right",
        label="a loss for labels that do not exclude one another",
        help=f"`{Word.CATEGORICAL_CROSS_ENTROPY}`",
        at_loss=True,
    )


def _zero_in_margin(found: Found) -> Finding:
    return said(
        found,
        "the labels are 0 and 1, and a hinge takes -1 and 1: where the label is 0, `1 - y * p` is 1 whatever the output is",
        label="examples with a label of 0 teach nothing here",
        help="labels of -1 and 1: `2 * y - 1`",
        at_loss=True,
        severity=Severity.ERROR,
    )


def _distance(found: Found) -> Finding:
    return said(
        found,
        f"`{found.objective.name}` measures a distance between probabilities of classes: a confident wrong answer is hardly "
        "corrected",
        label="a loss for plain numbers",
        help=f"`{Word.CATEGORICAL_CROSS_ENTROPY}`",
        at_loss=True,
    )


_SAID: Final[dict[Misfit, Callable[[Found], Finding]]] = {
    Misfit.CONTINUOUS_IN_CROSS_ENTROPY: _continuous,
    Misfit.ONE_UNIT_CATEGORICAL: _one_class,
    Misfit.BINARY_OVER_CLASSES: _binary_over_classes,
    Misfit.ZERO_IN_MARGIN: _zero_in_margin,
}
