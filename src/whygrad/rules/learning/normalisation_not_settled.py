"""WG813 normalisation-not-settled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.outputs import layer_given
from whygrad.graph import Recording
from whygrad.rules.learning.saying import output_name, steps_of
from whygrad.rules.rule import Finding, rule

_OFF: Final = 1.0  # deviations between the averages and the batches; from here on the next layer sees other numbers
_LEFT: Final = 0.3  # of the first value of an average: with less of it, the average is that of the data


@rule("WG813", "normalisation-not-settled", severity=Severity.WARNING, since="0.2.0")
def normalisation_not_settled(recording: Recording) -> Iterator[Finding]:
    """Detects models that are evaluated with averages of too few steps.

    ## Why it matters
    A batch normalisation trains with the mean of each batch and is evaluated with a moving average, which begins at 0
    and 1. After `n` steps with a momentum `m` the share `m^n` of that is still in it: 90 % after ten steps with 0.99.
    What was learned for one scale is then asked of another, and a model that is right in training fails.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(5.0, 0.1, size=(128, 3))
    y = (x[:, 0] > 5.0).astype("float32")
    model = keras.Sequential([keras.layers.BatchNormalization(), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=2, verbose=0)
    model.evaluate(x, y, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(5.0, 0.1, size=(128, 3))
    y = (x[:, 0] > 5.0).astype("float32")
    model = keras.Sequential(
        [keras.layers.BatchNormalization(momentum=0.5), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=4, verbose=0)
    model.evaluate(x, y, verbose=0)
    ```

    ## Known limits
    Judged by the averages at the end of the run. Reported where the model is evaluated or predicts; a call of the model by
    user code is not taken for that.
    """
    for objective in recording.objectives:
        bad = [each for each in objective.layers if each.off >= _OFF and each.unsettled >= _LEFT]
        if not bad or not objective.evaluated:
            continue
        worst = max(bad, key=lambda each: each.off)
        yield Finding(
            message=f"the averages of {output_name(worst, objective)} are still close to their first values: {worst.unsettled:.0%} of "
            f"those are left after {objective.steps} steps",
            primary=None if worst.made is None else Label(worst.made, "evaluated with averages of too few steps"),
            notes=(f"they are {worst.off:.2g} deviations away from those of the batches",),
            help="train for more steps, or make the averages faster: `momentum=0.9` or less",
            steps=steps_of(objective),
            fixes=partial(layer_given, worst.made, 1, "momentum", f"{_momentum(objective.steps)}"),
        )


def _momentum(steps: int) -> float:
    """One with which little of the first value is left after so many steps."""
    return 0.9 if 0.9**steps < _LEFT / 2 else 0.5
