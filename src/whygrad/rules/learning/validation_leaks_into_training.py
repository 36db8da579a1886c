"""WG815 validation-leaks-into-training."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.learning import Missed, Objective
from whygrad.rules.learning.saying import data_place, data_trails
from whygrad.rules.rule import Finding, rule
from whygrad.source.module import function_around
from whygrad.source.origin import apart, is_made_of


@rule("WG815", "validation-leaks-into-training", severity=Severity.WARNING, since="0.2.0")
def validation_leaks_into_training(recording: Recording) -> Iterator[Finding]:
    """Detects data that give the answer away: validation rows that are trained on, targets among the inputs.

    ## Why it matters
    A validation shows how the model does on what it has not seen. On rows that it was trained on, it shows how well they
    are remembered: a share `s` of such rows, which are always right, makes `s + (1 - s) a` of a true accuracy `a`, 0.8 of
    0.6 where half of them are known. Parts that are split from rows which are shuffled again share rows after one epoch:
    of a cut of 80 to 20, four in five of the next validation. So do the folds of a cross-validation that go on with one
    model: what it is validated on in the second, it was trained on in the first. A column of the inputs that is the target makes every
    model perfect, until the day it is asked for what nobody knows yet.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3)).astype("float32")
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, validation_data=(x[:32], y[:32]), epochs=3, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3)).astype("float32")
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x[32:], y[32:], validation_data=(x[:32], y[:32]), epochs=3, verbose=0)
    ```

    ## Known limits
    Arrays that are passed to `fit` are compared, and data sets that are made of arrays; rows of real numbers alone: whole
    numbers may well be the same in both. Of updates, those that `test_step` itself makes. Targets that the code makes of the inputs, as toy programs do, are not reported.
    """
    for update in recording.updates:
        if update.where is not None and function_around(update.where) == "test_step":
            yield Finding(
                message="`test_step` applies gradients: the model is trained on the data that it is validated on",
                primary=Label(update.where, "moves the weights while it is evaluated"),
                help="compute the loss and the metrics in `test_step`, and nothing else",
            )
    for objective in _once(recording):
        if Missed.VALIDATION_IN_TRAINING in objective.missed:
            yield Finding(
                message="rows of the validation data are also used for training: the validation says nothing new",
                primary=data_place(objective, "validation_data", 9),
                help="train on the rows that are not in the validation data",
            )
        if Missed.VALIDATION_TRAINED_BEFORE in objective.missed:
            yield Finding(
                message="rows of the validation data were trained on in an earlier `fit`, and the model still has the "
                "weights of it: the validation says nothing new",
                primary=data_place(objective, "validation_data", 9),
                help="make a new model for each part of the data, or set its weights back before `fit`",
            )
        if Missed.SPLIT_ANEW in objective.missed:
            yield Finding(
                message="training and validation are split from data that is shuffled again in every epoch: rows of one "
                "end up in the other",
                primary=data_place(objective, "validation_data", 9),
                help="shuffle after the split, or with `reshuffle_each_iteration=False`",
            )
        if Missed.TARGETS_AS_INPUTS in objective.missed or _is_given_away(objective):
            yield Finding(
                message="a column of the inputs holds the targets: the model can read the answer",
                primary=data_place(objective, "x", 0),
                help="leave the column of the targets out of the inputs",
            )


def _is_given_away(objective: Objective) -> bool:
    """Whether the inputs hold the targets although these are not made of them: then that is the task, a toy's."""
    inputs, targets = apart(*data_trails(objective))
    known = bool(inputs) and bool(targets)
    return Missed.TARGETS_AMONG_INPUTS in objective.missed and known and not is_made_of(targets, inputs)


def _once(recording: Recording) -> Iterator[Objective]:
    """One loss of each training."""
    found = [each for each in recording.objectives if each.missed]
    return iter({each.trained or each.where: each for each in found}.values())
