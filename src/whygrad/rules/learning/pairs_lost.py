"""WG816 pairs-lost."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.learning import LossKind, Missed, Objective
from whygrad.rules.learning.saying import data_place, data_trails, progress_notes, steps_of
from whygrad.rules.rule import Finding, rule
from whygrad.source.order import mixes, shuffled_apart, zipped
from whygrad.source.origin import apart


@rule("WG816", "pairs-lost", severity=Severity.WARNING, since="0.2.0")
def pairs_lost(recording: Recording) -> Iterator[Finding]:
    """Detects inputs and targets that are shuffled apart from one another.

    ## Why it matters
    Row `i` of the inputs belongs to row `i` of the targets. If only one of them is shuffled, or each by itself, a row
    meets its own target once in `n` times. What is left to learn is how often each target occurs: the loss of `k` classes
    that are as frequent stays at `log k`, whatever the network is.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    y = np.repeat([0.0, 1.0], 64)
    x = np.random.normal(size=(128, 3)) + y[:, None]
    np.random.shuffle(x)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    y = np.repeat([0.0, 1.0], 64)
    x = np.random.normal(size=(128, 3)) + y[:, None]
    order = np.random.permutation(128)
    x, y = x[order], y[order]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Read from the code that names the data, and from data sets that are passed to `fit`. Arrays that are shuffled inside
    of another function are not seen.
    """
    said = set[object]()
    for objective in (each for each in recording.objectives if each.loss is not LossKind.OTHER):
        place = _place(objective)
        if place is not None and place.span not in said:
            said.add(place.span)
            yield Finding(
                message="inputs and targets are likely shuffled apart: their rows do not belong together any more",
                primary=place,
                notes=progress_notes(recording, objective),
                help="shuffle both with one order (`order = np.random.permutation(n)`, `x[order]`, `y[order]`), or shuffle "
                "the data set after combining them",
                steps=steps_of(objective),
                certain=False,
            )


def _place(objective: Objective) -> Label | None:
    """Where one of both was shuffled; the data, where they are seen to be."""
    inputs, targets = data_trails(objective)
    if Missed.SHUFFLED_APART in objective.missed:
        own, paired = apart(inputs, targets)[0], zipped(inputs)
        mixed = next((hop.made for hop in own if mixes(hop)), None)
        if mixed is None and paired is not None:
            return Label(paired, "paired here, each in its own order")
        return Label(mixed or own[0].made, "shuffled on its own") if own else data_place(objective, "x", 0)
    where = shuffled_apart(inputs, targets)
    return None if where is None else Label(where, "only this one is put into another order")
