"""WG810 stack-without-activation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.outputs import bent
from whygrad.graph import Recording
from whygrad.graph.learning import LossKind, Objective
from whygrad.graph.questions.stall import Stall, linear_stack
from whygrad.rules.learning.saying import output_name, progress_notes, stalled_by, steps_of, unfit
from whygrad.rules.rule import Finding, rule


@rule("WG810", "stack-without-activation", severity=Severity.WARNING, since="0.2.0")
def stack_without_activation(recording: Recording) -> Iterator[Finding]:
    """Detects layers in a row without an activation between them: together they are one linear map.

    ## Why it matters
    `(x A + a) B + b` is `x (A B) + (a B + b)`: two dense layers without an activation are one, however wide they are, and
    so are ten. What a straight line cannot separate (a ring from its inside, XOR) stays as it is after any number of
    steps, and the loss stays at what the best constant answer has.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.uniform(-1.0, 1.0, size=(256, 2))
    y = (x[:, 0] * x[:, 1] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.uniform(-1.0, 1.0, size=(256, 2))
    y = (x[:, 0] * x[:, 1] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Known limits
    A warning only where the training gets nowhere; a note where it learns: a linear map may be all that it takes.
    """
    stalled = {id(each) for each in stalled_by(recording, Stall.LINEAR_STACK)}
    bad = unfit(recording)
    for objective in recording.objectives:
        if id(objective) not in bad and objective.loss is not LossKind.OTHER and linear_stack(objective):
            yield _finding(recording, objective, stuck=id(objective) in stalled)


def _finding(recording: Recording, objective: Objective, *, stuck: bool) -> Finding:
    stack = linear_stack(objective)
    first = next((each for each in stack if each.made is not None), stack[0])
    names = ", ".join(output_name(each, objective) for each in stack)
    return Finding(
        message=f"{names} act as one linear layer: there is no activation between them",
        primary=None if first.made is None else Label(first.made, "no activation"),
        related=tuple(Label(each.made, "and none here") for each in stack[1:-1] if each.made not in (None, first.made)),
        notes=progress_notes(recording, objective) if stuck else (),
        help="put an activation after each layer except the last: `relu`, `tanh`, `gelu`",
        steps=steps_of(objective),
        severity=None if stuck else Severity.NOTE,
        fixes=partial(bent, [each.made for each in stack if each is not objective.output]),
    )
