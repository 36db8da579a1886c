"""WG802 output-cannot-reach-target."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.learning import Activation
from whygrad.graph.questions.misfit import RANGES, Misfit
from whygrad.rules.learning.saying import found_of, output_name, said, stretch
from whygrad.rules.rule import Finding, rule


@rule("WG802", "output-cannot-reach-target", severity=Severity.ERROR, since="0.2.0")
def output_cannot_reach_target(recording: Recording) -> Iterator[Finding]:
    """Detects an output activation whose range does not hold the targets.

    ## Why it matters
    A `sigmoid` ends at 0 and 1, `tanh` at -1 and 1, a `softmax` has numbers that sum to one, a `relu`, a `softplus` or
    an `exp` none below zero: behind them, targets that were standardised are out of reach below their mean.
    For a target of 300 the best that a sigmoid can do is 1, and the error stays at 299 or more: `(300 - 1)^2 = 89401`.
    The gradient pushes the unit to the end of its range, where the slope is zero, and there it stays.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = 3.0 + 2.0 * x[:, :1]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = 3.0 + 2.0 * x[:, :1]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Only losses that measure a distance are looked at; targets that are out of the range by less than 2 % of their own
    range are taken for rounding, and for noise where less than half of them are out and the range costs less than 2 %
    of their variance. A loss of the user's own may mean something else by its targets, and is not judged.
    """
    for found in found_of(recording, Misfit.UNREACHABLE, Misfit.HINGE_ON_PROBABILITY):
        objective, name = found.objective, output_name(found.layer, found.objective)
        low, high = RANGES[objective.activation]
        reach = f"never below {low:g}" if high == float("inf") else f"never outside of {low:g} to {high:g}"
        if objective.activation is Activation.SOFTMAX:
            reach = "positive, and sums to one"
        if found.misfit is Misfit.HINGE_ON_PROBABILITY:
            aim = f"`{objective.name}` asks for -1 or less where the label is negative"
        else:
            aim = f"the targets go from {stretch(objective.targets)}"
        yield said(
            found,
            f"the output of {name} is {reach}, but {aim}",
            label=f"`{objective.activation.value}` cannot give these targets",
            help="no activation in the last layer, or targets scaled into the range of the activation",
        )
