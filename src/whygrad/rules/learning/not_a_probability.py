"""WG805 not-a-probability."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Severity, Word
from whygrad.graph import Recording
from whygrad.graph.learning import Activation, LossKind, Objective
from whygrad.graph.questions.misfit import Found, Misfit
from whygrad.rules.learning.saying import found_of, output_name, said, stretch
from whygrad.rules.rule import Finding, rule


@rule("WG805", "not-a-probability", severity=Severity.ERROR, since="0.2.0")
def not_a_probability(recording: Recording) -> Iterator[Finding]:
    """Detects outputs that a cross-entropy takes for what they are not: numbers for probabilities, or these for logits.

    ## Why it matters
    A cross-entropy takes the logarithm of a probability. Of a plain number it cuts off what is not between 0 and 1,
    and there the gradient is zero: an output of -0.3 for a label of 1 costs `-log(1e-7) = 16.1` and is never corrected.
    The other way round, a probability that is taken for a logit goes through a second sigmoid, which ends at
    `1 / (1 + exp(-1)) = 0.73`: the loss cannot fall below `-log 0.73 = 0.31`. Behind a `relu` no logit is below zero,
    and a class whose unit is silent gets no gradient.

    The cross-entropies of Keras take the logits from behind a softmax or sigmoid where they can still see it; then the
    training is right, and the contradiction is a note.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(64, 4))
    y = (x[:, 0] > 0).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
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
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
    model.fit(x, y, epochs=3, verbose=0)
    ```

    ## Known limits
    An activation that is not known is judged by the outputs that were seen.
    """
    wanted = (
        Misfit.LINEAR_AS_PROBABILITY,
        Misfit.PROBABILITY_AS_LOGIT,
        Misfit.RECTIFIED_LOGIT,
        Misfit.RECTIFIED_BEFORE_SOFTMAX,
    )
    for found in found_of(recording, *wanted):
        yield _finding(found)


def _finding(found: Found) -> Finding:
    objective, name = found.objective, output_name(found.layer, found.objective)
    kind = objective.activation
    end = "sigmoid" if objective.loss is LossKind.BINARY else "softmax"
    if found.misfit is Misfit.LINEAR_AS_PROBABILITY:
        return said(
            found,
            f"the output of {name} is not a probability, and `{objective.name}` takes it for one",
            label=_label(kind),
            notes=_seen(objective),
            help=f"`{end}` in the last layer, or a loss that takes logits: `{Word.FROM_LOGITS}`"
            if kind is Activation.LINEAR
            else f"`{end}` in the last layer",
        )
    if found.misfit is Misfit.PROBABILITY_AS_LOGIT and objective.logits_kept:
        return said(
            found,
            f"`{objective.name}` expects logits, and {name} gives probabilities: {Word.NETWORK_LIBRARY} takes the logits from "
            "behind the activation here, so the training is right, but the two contradict each other",
            label="expects logits",
            help=f"no activation in the last layer, or no `{Word.FROM_LOGITS}`: as it is, a layer or a cast in between breaks it",
            at_loss=True,
            severity=Severity.NOTE,
        )
    if found.misfit is Misfit.PROBABILITY_AS_LOGIT:
        return said(
            found,
            f"the probabilities of {name} go through a second {end}: `{objective.name}` takes them for logits",
            label="this loss applies the activation itself",
            help=f"no activation in the last layer, or a loss that takes probabilities (no `{Word.FROM_LOGITS}`)",
            at_loss=True,
        )
    return said(
        found,
        f"the scores of {name} are never below zero: a relu comes before the {end}, and a silent unit gets no gradient",
        label="a rectified score is likely not meant",
        help=f"no activation in front of the {end}",
        severity=Severity.WARNING,
    )


def _label(kind: Activation) -> str:
    if kind is Activation.OTHER:
        return "made here, and not kept between 0 and 1"
    return "no activation" if kind is Activation.LINEAR else f"`{kind.value}` ends this output"


def _seen(objective: Objective) -> tuple[str, ...]:
    outside = [each for each in objective.predictions if each.is_known and (each.minimum < 0 or each.maximum > 1)]
    return (f"it gave numbers from {stretch(outside[0])}",) if outside else ()
