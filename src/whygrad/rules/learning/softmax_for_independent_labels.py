"""WG804 softmax-for-independent-labels."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.graph import Recording
from whygrad.graph.questions.misfit import Misfit
from whygrad.rules.learning.saying import found_of, output_name, said
from whygrad.rules.rule import Finding, rule


@rule("WG804", "softmax-for-independent-labels", severity=Severity.ERROR, since="0.2.0")
def softmax_for_independent_labels(recording: Recording) -> Iterator[Finding]:
    """Detects a softmax for labels of which several are true at once.

    ## Why it matters
    The outputs of a softmax sum to one: two labels that are both true get 0.5 each at best, three get a third. With a
    threshold of 0.5 at most one label is ever found, and raising one pushes the others down.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = (x[:, :3] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = (x[:, :3] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    Seen by rows of the targets that hold several ones, in the batches that were looked at.
    """
    for found in found_of(recording, Misfit.MANY_LABELS_ONE_SOFTMAX):
        objective = found.objective
        _, most = objective.targets.ones or (0, 0)
        yield said(
            found,
            f"the outputs of {output_name(found.layer, objective)} sum to one, but up to {most} labels are true at once",
            label=f"{most} labels of 1 cannot share a sum of 1",
            help=f"`sigmoid` in the last layer, with `{Word.BINARY_CROSS_ENTROPY}`",
        )
