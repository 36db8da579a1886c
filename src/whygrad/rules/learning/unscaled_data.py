"""WG808 unscaled-data."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import FailureKind, Recording
from whygrad.graph.learning import Objective
from whygrad.graph.questions.progress import request_of
from whygrad.graph.questions.stall import Stall, entries, is_large, looks_up_inputs
from whygrad.rules.learning.saying import (
    data_place,
    loss_place,
    output_name,
    progress_notes,
    stalled_by,
    steps_of,
    stretch,
    trained_variables,
)
from whygrad.rules.rule import Finding, rule


@rule("WG808", "unscaled-data", severity=Severity.WARNING, since="0.2.0")
def unscaled_data(recording: Recording) -> Iterator[Finding]:
    """Detects data of hundreds and more that keep a training from learning, fractions for an embedding, and text.

    ## Why it matters
    Initial weights are made for inputs around 1: a sum over 3 inputs of 50,000 with weights of 0.5 is some tens of
    thousands, where `tanh` and `sigmoid` are flat: the slope `1 - tanh(z)^2` is exactly zero in float32 from `z = 10` on.
    A target of 30,000 is as far away for the output: with Adam at 0.001 a bias moves by 0.001 a step, and needs thirty
    million of them. An embedding looks up whole numbers: `0.37` is cut off to row 0, like every other fraction.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.uniform(10_000.0, 90_000.0, size=(128, 3))
    y = (x[:, 0] > x[:, 1]).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.uniform(10_000.0, 90_000.0, size=(128, 3))
    y = (x[:, 0] > x[:, 1]).astype("float32")
    x = (x - x.mean(0)) / x.std(0)
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Known limits
    Said only where the training gets nowhere: after twenty steps or more its loss is that of an answer which is the same
    for every input; or where a normalisation of the data was given none to learn from. Other networks that normalise
    anywhere are not judged.
    """
    for objective in stalled_by(recording, Stall.UNSCALED_INPUTS):
        large = stretch(next(each for each in objective.inputs if is_large(each)))
        idle = next((each for each in objective.layers if each.unadapted), None)
        name = output_name(idle or entries(objective)[0], objective)
        if idle is not None:
            message = f"{name} was never adapted to the data: inputs from {large} likely go through it as they are"
            place = None if idle.made is None else Label(idle.made, "changes nothing")
            help = f"call `{Word.ADAPT}` on the data before the training"
        else:
            message = f"inputs from {large} go into {name} as they are, and nothing is likely learned from them"
            place, help = data_place(objective, "x", 0), _SCALE
        yield _finding(recording, objective, message, place, help)
    for objective in stalled_by(recording, Stall.UNSCALED_TARGETS):
        yield _finding(
            recording,
            objective,
            f"targets from {stretch(objective.targets)} are likely out of the reach of "
            f"{output_name(objective.output, objective)}, whose output starts around 0",
            data_place(objective, "y", 1),
            "scale the targets to a mean of 0 and a deviation of 1, and scale the predictions back",
        )
    for objective in stalled_by(recording, Stall.FRACTIONS_INTO_EMBEDDING):
        yield _fractions(objective)
    failure = recording.failure
    if failure is not None and failure.kind is FailureKind.NOT_NUMBERS:
        yield Finding(
            message="the data are text or objects, and a network computes with numbers",
            primary=None if failure.where is None else Label(failure.where, "refused here"),
            help="one column of text turns the whole array into objects: turn it into numbers first (0 and 1, a number for each "
            'word), then `x.astype("float32")`',
            severity=Severity.ERROR,
        )


_SCALE = "scale each feature to a mean of 0 and a deviation of 1 (images: divide by 255)"


def _finding(recording: Recording, objective: Objective, message: str, place: Label | None, help: str) -> Finding:
    loss = loss_place(objective)
    return Finding(
        message=message,
        primary=place,
        related=() if loss is None or (place and loss == place.span) else (Label(loss, "compared here"),),
        variables=trained_variables(recording, request_of(recording, objective)),
        notes=progress_notes(recording, objective),
        help=help,
        steps=steps_of(objective),
        certain=False,
    )


def _fractions(objective: Objective) -> Finding:
    layer = next(filter(looks_up_inputs, entries(objective)))
    given = next(each for each in objective.inputs if each.is_known)
    return Finding(
        message=f"{output_name(layer, objective)} cuts fractions off: its inputs go from {stretch(given)}, and it looks up "
        "whole numbers",
        primary=None if layer.made is None else Label(layer.made, "every input between 0 and 1 is row 0"),
        help="pass the numbers of the words themselves, from 0 on, not scaled",
        steps=steps_of(objective),
        severity=Severity.ERROR,
    )
