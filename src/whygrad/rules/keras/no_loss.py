"""WG701 no-loss."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import FailureKind, Recording
from whygrad.graph.objects import Compiled, Trained
from whygrad.rules.rule import Finding, rule


@rule("WG701", "no-loss", severity=Severity.ERROR, since="0.1.0")
def no_loss(recording: Recording) -> Iterator[Finding]:
    """Detects models that are trained without a loss.

    ## Why it matters
    `compile` without `loss=` leaves nothing to differentiate. Keras raises `No loss to compute`, or trains on the
    added penalties alone.

    ## Example
    ```python
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    ```

    ## Known limits
    A custom `train_step` with a loss of its own needs none in `compile`, and is not reported.
    """
    tried = {event.model for event in recording.events_of(Trained) if event.raised is FailureKind.NO_LOSS}
    last = {event.model: event for event in recording.events_of(Compiled)}
    for event in last.values():
        if event.has_loss or event.model not in tried:
            continue
        yield Finding(
            message=f"`{event.model}` is trained without a loss",
            primary=None if event.where is None else Label(event.where, "compiled without `loss=`"),
            help="name a loss: `model.compile(optimizer, loss=...)`",
        )
