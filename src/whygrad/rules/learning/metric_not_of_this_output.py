"""WG814 metric-not-of-this-output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.outputs import text_changed
from whygrad.graph import Recording
from whygrad.graph.learning import Activation, LossKind, Objective
from whygrad.graph.objects import CompiledMetric
from whygrad.graph.questions.misfit import are_continuous, units_of
from whygrad.rules.learning.saying import output_name, unfit
from whygrad.rules.rule import Finding, rule
from whygrad.source.arguments import argument_span

_HITS: Final = ("acc", "accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy")
_PROBABILITIES: Final = (Activation.SOFTMAX, Activation.SIGMOID)
_METRICS_AT: Final = 3  # the position of the metrics among the arguments of `compile`


@rule("WG814", "metric-not-of-this-output", severity=Severity.WARNING, since="0.2.0")
def metric_not_of_this_output(recording: Recording) -> Iterator[Finding]:
    """Detects metrics that mean nothing for the output they are given for.

    ## Why it matters
    Accuracy counts how often a prediction is exactly the target. Real numbers are never exactly the same: 2.4999 for 2.5
    counts as wrong, and the accuracy stays at 0 however good the model is. A binary accuracy over the one-hot rows of 10
    classes counts each column: no to all of them is right in 9 of 10, 90 % for a model that knows nothing. `MeanIoU` and
    `IoU` take what they are given for class numbers: a probability below 1 is class 0.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * 0.7
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", metrics=["accuracy"])
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * 0.7
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Only the accuracies of Keras and its intersections over unions are judged. Other metrics may be looked at out of curiosity.
    """
    bad = unfit(recording)
    for objective in recording.objectives:
        if id(objective) in bad:
            continue
        wrong = next((each for each in objective.metrics if _why(each, objective)), None)
        if wrong is None:
            continue
        where = argument_span(objective.where, "metrics", _METRICS_AT) or objective.where
        why, instead = _why(wrong, objective) or ("", "")
        yield Finding(
            message=f"`{wrong.name}` {why}",
            primary=None if where is None else Label(where, "not a metric for this output"),
            help=instead,
            fixes=tuple if wrong.of_class_numbers else partial(text_changed, where, wrong.name, instead.split("`")[1]),
        )


def _why(given: CompiledMetric, objective: Objective) -> tuple[str, str] | None:
    """What a metric does with the targets of an output, and which one fits; None: it fits, as far as is known."""
    targets, units = objective.targets, units_of(objective) or 0
    name, metric = output_name(objective.output, objective), given.name.lower()
    if given.of_class_numbers and objective.activation in _PROBABILITIES and not objective.predicted.whole:
        return (
            f"takes predictions for class numbers, and {name} gives probabilities: all below 1 count as class 0",
            "`sparse_y_pred=False`, so that the largest of them counts (and `sparse_y_true=False` for one-hot targets)",
        )
    if metric in _HITS and objective.loss is LossKind.REGRESSION and are_continuous(targets):
        return (
            f"counts exact hits, and the targets of {name} are plain numbers: it stays at 0 however good the model is",
            "a metric that measures a distance: `mae`, `mse`",
        )
    if metric == "binary_accuracy" and objective.loss is LossKind.CATEGORICAL and units > 2 and targets.is_one_hot:
        return (
            f"counts each of the {units} outputs of {name} by itself: answering no to all classes is {1 - 1 / units:.0%} right",
            "`categorical_accuracy`",
        )
    if metric == "categorical_accuracy" and objective.loss is LossKind.SPARSE and units > 1:
        return f"takes one-hot rows, and the targets of {name} are class numbers", "`sparse_categorical_accuracy`"
    if metric == "sparse_categorical_accuracy" and objective.loss is LossKind.CATEGORICAL and targets.is_one_hot:
        return f"takes class numbers, and the targets of {name} are one-hot rows", "`categorical_accuracy`"
    if metric in ("categorical_accuracy", "sparse_categorical_accuracy") and units == 1:
        return f"compares the largest of several outputs, and {name} has one: it is always right", "`binary_accuracy`"
    return None
