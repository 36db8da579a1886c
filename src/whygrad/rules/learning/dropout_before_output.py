"""WG812 dropout-before-output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.outputs import layer_given
from whygrad.graph import Recording
from whygrad.graph.learning import LayerFacts, LayerKind, LossKind, Objective
from whygrad.graph.questions.misfit import units_of
from whygrad.rules.learning.saying import output_name, steps_of, unfit
from whygrad.rules.rule import Finding, rule

_MOST: Final = 0.5  # of what goes into an output that is to be a number: more is noise of the size of the number
_MOST_OF_ANY: Final = 0.7  # of what goes into any output
_USUAL: Final = 0.2  # a rate that an output bears


@rule("WG812", "dropout-before-output", severity=Severity.WARNING, since="0.2.0")
def dropout_before_output(recording: Recording) -> Iterator[Finding]:
    """Detects outputs that are dropped, and numbers that are predicted from what little a dropout leaves.

    ## Why it matters
    A dropout of rate `r` sets a share `r` of its input to zero and divides the rest by `1 - r`. After the last layer it
    drops the predictions themselves: the loss compares zeros with the targets. Right before a single output it
    gives a sum of few terms, each five times too large at `r = 0.8`: its deviation is `sqrt(r / (1 - r)) = 2` times each
    term, and a squared error pays for all of it. Classes bear it, for only their order counts.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * x[:, 1:2]
    model = keras.Sequential(
        [keras.layers.Dense(8, activation="tanh"), keras.layers.Dropout(0.8), keras.layers.Dense(1)]
    )
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * x[:, 1:2]
    model = keras.Sequential(
        [keras.layers.Dropout(0.1), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)]
    )
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Said from more than half on before a number, from more than 0.7 on before classes.
    """
    bad = unfit(recording)
    for objective in (each for each in recording.objectives if id(each) not in bad):
        last = objective.layers[0] if objective.layers else None
        if (
            last is not None
            and last.kind is LayerKind.DROPOUT
            and last.rate > 0
            and objective.loss is not LossKind.OTHER
        ):
            yield _finding(
                objective,
                last,
                f"{output_name(last, objective)} drops {last.rate:.0%} of the predictions themselves: the loss compares "
                "zeros with the targets",
                "move it before the last layer",
                Severity.WARNING,
            )
            continue
        before = _before_output(objective)
        number = objective.loss is LossKind.REGRESSION and units_of(objective) == 1
        if (
            before is not None
            and objective.loss is not LossKind.OTHER
            and before.rate > (_MOST if number else _MOST_OF_ANY)
        ):
            yield _finding(
                objective,
                before,
                f"{output_name(before, objective)} drops {before.rate:.0%} of what the output of "
                f"{output_name(objective.output, objective)} is made of: its noise is "
                f"{(before.rate / (1 - before.rate)) ** 0.5 if before.rate < 1 else 99:.1f} times each term",
                "a smaller rate, or a dropout further from the output",
                Severity.WARNING,
            )


def _before_output(objective: Objective) -> LayerFacts | None:
    output = objective.output
    if output is None:
        return None
    at = objective.layers.index(output)
    feeding = [each for each in objective.layers if each.into == at]
    return feeding[0] if len(feeding) == 1 and feeding[0].kind is LayerKind.DROPOUT and feeding[0].rate > 0 else None


def _finding(objective: Objective, layer: LayerFacts, message: str, help: str, severity: Severity) -> Finding:
    return Finding(
        message=message,
        primary=None if layer.made is None else Label(layer.made, f"a rate of {layer.rate:g}"),
        help=help,
        steps=steps_of(objective),
        severity=severity,
        fixes=partial(layer_given, layer.made, 0, "rate", f"{_USUAL}"),
    )
