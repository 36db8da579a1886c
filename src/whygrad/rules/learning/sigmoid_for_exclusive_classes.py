"""WG803 sigmoid-for-exclusive-classes."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.graph import Recording
from whygrad.graph.questions.misfit import Misfit, units_of
from whygrad.rules.learning.saying import found_of, output_name, progress_notes, said
from whygrad.rules.rule import Finding, rule


@rule("WG803", "sigmoid-for-exclusive-classes", severity=Severity.WARNING, since="0.2.0")
def sigmoid_for_exclusive_classes(recording: Recording) -> Iterator[Finding]:
    """Detects a sigmoid for each of several classes of which exactly one is right.

    ## Why it matters
    A cross-entropy over classes is `-log p` of the right class, where the `p` of all classes sum to one. Sigmoids do
    not: the loss sees only the right one, so that all units may go to 1 and the loss to zero, with nothing learned
    about which class it is. Keras 3 takes the logits from behind the sigmoid and trains as a softmax would, number for
    number; what the model then predicts is not what was trained.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = keras.utils.to_categorical(x[:, :3].argmax(1), 3)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3, activation="sigmoid")])
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(60, 4))
    y = keras.utils.to_categorical(x[:, :3].argmax(1), 3)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    A sigmoid for each class with a binary cross-entropy trains one classifier for each. That works, and is reported only
    where a binary accuracy makes it look better than it is, or where nothing is learned. Where some rows have several labels, the sigmoid is right and the loss is not: that is said instead.
    """
    for found in found_of(recording, Misfit.SIGMOID_PER_CLASS):
        objective, count = found.objective, units_of(found.objective) or 0
        yield said(
            found,
            f"the {count} outputs of {output_name(found.layer, objective)} are answered one by one, and exactly one is right "
            f"in every row: no to all of them is already {1 - 1 / max(1, count):.0%} right",
            label="each unit has a sigmoid of its own",
            notes=progress_notes(recording, objective),
            help=f"`softmax` with `{Word.CATEGORICAL_CROSS_ENTROPY}`",
            severity=Severity.WARNING,
        )
    for found in found_of(recording, Misfit.SIGMOID_OVER_CLASSES):
        objective, count = found.objective, units_of(found.objective) or 0
        several = objective.targets.ones is not None and objective.targets.ones[1] > 1
        yield said(
            found,
            f"the {count} outputs of {output_name(found.layer, objective)} do not sum to one: `{objective.name}` expects "
            "the probabilities of classes that exclude one another",
            label="each unit has a sigmoid of its own",
            help=f"`{Word.BINARY_CROSS_ENTROPY}`, for labels that may be true together" if several else "`softmax`",
            at_loss=several,
        )
