"""WG801 one-unit-softmax."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.graph.learning import LossKind, Objective
from whygrad.graph.questions.misfit import Misfit, are_class_numbers
from whygrad.rules.learning.saying import found_of, output_name, said
from whygrad.rules.rule import Finding, rule


@rule("WG801", "one-unit-softmax", severity=Severity.ERROR, since="0.2.0")
def one_unit_softmax(recording: Recording) -> Iterator[Finding]:
    """Detects a softmax over a single unit.

    ## Why it matters
    A softmax divides each `exp(z)` by the sum of all of them. Of a single unit that is `exp(z) / exp(z) = 1`, whatever
    `z` is: every prediction is 1, and the derivative is `1 * (1 - 1) = 0`. Keras takes the logits from behind the
    softmax for its cross-entropies, so that the loss may even fall; what the model predicts is 1 all the same.

    ## Example
    ```python
    import warnings

    import keras
    import numpy as np

    warnings.simplefilter("ignore")  # Keras 3 warns of it as well
    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="softmax")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Seen where the layer, or the op before the loss, says that it is a softmax over its last axis.
    """
    for found in found_of(recording, Misfit.ONE_UNIT_SOFTMAX):
        name = output_name(found.layer, found.objective)
        inner = found.layer is not None and found.layer.into is not None and found.layer is not found.objective.output
        yield said(
            found,
            f"the output of {name} is always 1: its softmax is taken over a single unit",
            label="exp(z) / exp(z) is 1, whatever comes in",
            help="take the softmax over the axis that has the choices (`axis=1` for the steps of a sequence)"
            if inner
            else _instead(found.objective),
        )


def _instead(objective: Objective) -> str:
    targets = objective.targets
    if are_class_numbers(targets):
        return f"one unit for each class: {int(targets.maximum) + 1} units with `softmax`, and a loss for class numbers"
    if objective.loss is LossKind.REGRESSION and not targets.is_binary:
        return "no activation, for targets that are plain numbers"
    return "`sigmoid` for the probability of a yes; `softmax` needs one unit for each class"
