"""WG811 predictions-collapsed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording, Request
from whygrad.graph.learning import Activation, LayerFacts, Objective
from whygrad.graph.questions.progress import request_of
from whygrad.graph.questions.stall import Stall
from whygrad.rules.learning.saying import data_place, output_name, progress_notes, stalled_by, steps_of
from whygrad.rules.odd_gradient.over_steps import (
    Followed,
    all_zero,
    always,
    asked,
    blank_kernels,
    followed,
    measured,
    silenced,
    track_of,
)
from whygrad.rules.odd_gradient.series import find_vanishing
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing

_MANY_SIGMOIDS: Final = 4  # in a row: a quarter of a quarter of a quarter of a quarter is less than a hundredth


@rule("WG811", "predictions-collapsed", severity=Severity.WARNING, since="0.2.0")
def predictions_collapsed(recording: Recording) -> Iterator[Finding]:
    """Detects models that give the same output for every input.

    ## Why it matters
    The best answer that does not look at its input is the mean of the targets, and a network that is cut off from its
    inputs learns just that: weights that all start at zero stay the same forever (the gradient of a kernel is
    `x^T d`, and `d` is zero behind a zero kernel), labels that are all the same have nothing else to teach, and where
    one class in forty is a yes, calling everything a no is right in 39 of 40 cases. The slope of a sigmoid is `s (1 - s)`,
    a quarter at most: eight of them in a row leave `0.25^8 = 1.5e-5` of a gradient.

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
    for objective in stalled_by(recording, Stall.CONSTANT_INPUTS):
        yield _finding(
            recording,
            objective,
            "every row of the inputs is the same, and the targets differ: no answer can be right for all of them",
            data_place(objective, "x", 0),
            "look at how the inputs are made: a whole-number division, a cast of fractions, a wrong column",
        )
    explained = set[object]()
    for objective in stalled_by(recording, Stall.COLLAPSED):
        request = request_of(recording, objective)
        group = [] if request is None else followed(recording, request)
        if silenced(group) is not None or (request is not None and any(find_vanishing(track_of(request, group)))):
            continue  # said there
        if request is not None:
            explained.add(request.where)
        blank = tuple(each.name for each in blank_kernels(group))
        shrinking = _shrinking(objective)
        if shrinking and not blank:
            yield _shrunk(recording, objective, shrinking)
            continue
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
            variables=tuple(each.name for each in group if each.is_zero),
        )
    for request, group in measured(recording):
        blank_matrices = blank_kernels(group)
        if len(blank_matrices) > 1 and not all_zero(group) and request.where not in explained:
            yield _blank(request, blank_matrices)
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


def _shrinking(objective: Objective) -> list[LayerFacts]:
    """Hidden layers with a sigmoid, the first one first, where they are so many that next to nothing passes them."""
    hidden = [e for e in reversed(objective.layers) if e is not objective.output and e.activation is Activation.SIGMOID]
    return hidden if len(hidden) >= _MANY_SIGMOIDS else []


def _shrunk(recording: Recording, objective: Objective, layers: list[LayerFacts]) -> Finding:
    first = next((each.made for each in layers if each.made is not None), None)
    found = _finding(
        recording,
        objective,
        f"the output of {output_name(objective.output, objective)} is the same for every input: {len(layers)} layers with "
        f"`sigmoid` lie before it, and each passes a quarter of the gradient at most, together {0.25 ** len(layers):.0e}",
        None if first is None else Label(first, "the gradient hardly gets here"),
        "`relu` or `tanh` in the hidden layers, fewer of them, or a normalisation between them",
    )
    others = {each.made for each in layers if each.made is not None} - {first}
    return replace(found, related=tuple(Label(each, "and hardly here") for each in sorted(others)))


def _blank(request: Request, matrices: list[Followed]) -> Finding:
    names = tuple(each.name for each in matrices)
    made = [each.variable.created for each in matrices if each.variable.created is not None]
    return Finding(
        message=f"{listing(names)} are zero in all elements, and stay so: the gradient of each is zero where the others are",
        primary=Label(made[0], "starts at zero") if made else None,
        related=(*(Label(each, "and this too") for each in made[1:] if each != made[0]), *asked(request)),
        variables=names,
        help="start the kernels at random",
        steps=always(request),
    )


def _finding(
    recording: Recording,
    objective: Objective,
    message: str,
    place: Label | None,
    help: str,
    *,
    variables: tuple[str, ...] = (),
    certain: bool = True,
) -> Finding:
    return Finding(
        message=message,
        primary=place,
        variables=variables,
        notes=progress_notes(recording, objective),
        help=help,
        steps=steps_of(objective),
        certain=certain,
    )
