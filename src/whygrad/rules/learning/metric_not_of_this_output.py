"""WG814 metric-not-of-this-output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.learning import CROSS_ENTROPIES, LossKind
from whygrad.graph.questions.misfit import are_continuous, misfits
from whygrad.rules.learning.saying import output_name
from whygrad.rules.rule import Finding, rule
from whygrad.source.arguments import argument_span

_HITS: Final = ("acc", "accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy")
_METRICS_AT: Final = 3  # the position of the metrics among the arguments of `compile`


@rule("WG814", "metric-not-of-this-output", severity=Severity.WARNING, since="0.2.0")
def metric_not_of_this_output(recording: Recording) -> Iterator[Finding]:
    """Detects metrics that mean nothing for the output they are given for.

    ## Why it matters
    Accuracy counts how often a prediction is exactly the target. Real numbers are never exactly the same: 2.4999 for 2.5
    counts as wrong, and the accuracy stays at 0 however good the model is.

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
    Only accuracies on targets that are plain numbers are told.
    """
    unfit = {id(found.objective) for found in misfits(recording)}
    for objective in recording.objectives:
        wrong = [each for each in objective.metrics if each.lower() in _HITS]
        numbers = objective.loss is LossKind.REGRESSION and are_continuous(objective.targets)
        if not wrong or not numbers or id(objective) in unfit or objective.loss in CROSS_ENTROPIES:
            continue
        where = argument_span(objective.where, "metrics", _METRICS_AT) or objective.where
        yield Finding(
            message=f"`{wrong[0]}` counts exact hits, and the targets of {output_name(objective.output, objective)} are plain "
            "numbers: it stays at 0 however good the model is",
            primary=None if where is None else Label(where, "a metric for classes"),
            help="a metric that measures a distance: `mae`, `mse`",
        )
