"""WG811 predictions-collapsed."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.graph.learning import Objective
from whygrad.graph.questions.progress import request_of
from whygrad.graph.questions.stall import Stall
from whygrad.rules.learning.saying import data_place, output_name, progress_notes, stalled_by
from whygrad.rules.odd_gradient.over_steps import blank_kernels, followed, silenced, track_of
from whygrad.rules.odd_gradient.series import find_vanishing
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing


@rule("WG811", "predictions-collapsed", severity=Severity.WARNING, since="0.2.0")
def predictions_collapsed(recording: Recording) -> Iterator[Finding]:
    """Detects models that give the same output for every input.

    ## Why it matters
    The best answer that does not look at its input is the mean of the targets, and a network that is cut off from its
    inputs learns just that: weights that all start at zero are the same for ever (the gradient of a kernel is
    `x^T d`, and `d` is zero behind a zero kernel), labels that are all the same have nothing else to teach, and where
    one class in forty is a yes, calling everything a no is right in 39 of 40 cases.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(256, 3))
    y = (x[:, 0] > 9.0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=4, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(256, 3))
    y = (x[:, 0] > 0.9).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=4, verbose=0)
    ```

    ## Known limits
    Outputs are compared within the batches that were looked at, after twenty steps or more.
    """
    for objective in stalled_by(recording, Stall.CONSTANT_TARGETS):
        value = objective.targets.minimum
        yield _finding(
            recording,
            objective,
            f"every target is {value:g}: there is nothing to tell apart"
            if objective.targets.distinct == 1
            else "every row of the targets is the same: there is nothing to tell apart",
            data_place(objective, "y", 1),
            "look at how the labels are made: a comparison that is never true, text compared with numbers, a wrong column",
        )
    for objective in stalled_by(recording, Stall.COLLAPSED):
        request = request_of(recording, objective)
        group = [] if request is None else followed(recording, request)
        if silenced(group) is not None or (request is not None and any(find_vanishing(track_of(request, group)))):
            continue  # said there
        blank = tuple(each.name for each in blank_kernels(group))
        made = None if objective.output is None else objective.output.made
        yield _finding(
            recording,
            objective,
            f"the output of {output_name(objective.output, objective)} is the same for every input"
            + (f": {listing(blank)} {'are' if len(blank) > 1 else 'is'} zero in all elements" if blank else ""),
            Label(made, "the same for every input") if made is not None else data_place(objective, "x", 0),
            "start the kernels at random: the gradient of each is zero where the others are"
            if blank
            else "look for what cuts the output off from the inputs: dead units, saturation, a rate that is too large",
        )
    for objective in stalled_by(recording, Stall.ONE_ANSWER):
        share = objective.targets.mean
        rare, answer = (share, "no") if share < 0.5 else (1 - share, "yes")
        yield _finding(
            recording,
            objective,
            f"the model likely answers {answer} to every input: {rare:.1%} of the targets say otherwise, and are never found",
            data_place(objective, "y", 1),
            "weight the rare class (`class_weight`), show it more often, or set the threshold below its share",
            certain=False,
        )


def _finding(
    recording: Recording, objective: Objective, message: str, place: Label | None, help: str, *, certain: bool = True
) -> Finding:
    return Finding(
        message=message,
        primary=place,
        notes=progress_notes(recording, objective),
        help=help,
        steps=Steps(max(1, objective.steps), max(1, objective.steps)),
        certain=certain,
    )
