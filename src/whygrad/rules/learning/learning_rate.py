"""WG809 learning-rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.outputs import rate_changed
from whygrad.graph import Recording, Request
from whygrad.graph.nonfinite import Nonfinite
from whygrad.graph.questions.progress import last_loss, losses, request_of
from whygrad.graph.questions.rates import Rate, has_vanished, is_set_in_vain, is_too_large, is_too_small, rate_of
from whygrad.graph.questions.stall import Stall
from whygrad.rules.learning.saying import stalled_by, trained_variables
from whygrad.rules.nonfinite.birth import births
from whygrad.rules.odd_gradient.over_steps import always, asked
from whygrad.rules.rule import Finding, rule


@rule("WG809", "learning-rate", severity=Severity.WARNING, since="0.2.0")
def learning_rate(recording: Recording) -> Iterator[Finding]:
    """Detects learning rates that do not fit the weights: steps as long as the weights, or too short to be felt.

    ## Why it matters
    A step of plain descent is `rate * |g|` long. Where that is as long as the weights themselves, nothing of them is
    left after it, and the loss jumps instead of falling. The other way round, a step lowers the loss by
    `rate * |g|^2` at most: a rate of 1e-8 and a gradient of 1 take a hundred million steps to lower it by 1. An optimizer
    that divides by the size of the gradients moves each weight by about `rate` a step, whatever the gradient is.

    ## Example
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * x[:, 1:2]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(1e-8), loss="mse")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Use instead
    ```python
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    x = np.random.normal(size=(128, 3))
    y = x[:, :1] * x[:, 1:2]
    model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    model.fit(x, y, epochs=10, verbose=0)
    ```

    ## Known limits
    The rate is read at the first update, that of a schedule over all steps, the weights when they are first seen. Optimizers that take the mean of several
    calls are not judged. `whygrad.suggest_learning_rate` tries rates out, and says which range lowers the loss.
    """
    if not recording.updates or is_set_in_vain(recording):
        return
    lost = any(True for _ in recording.events_of(Nonfinite))
    if lost and not any(True for _ in births(recording, "exploding-gradient")):  # by an op that is to blame: said there
        return
    said = set[int]()
    for request, large in _judged(recording):
        rate = rate_of(recording, request)
        if rate is not None and id(rate.update) not in said:
            said.add(id(rate.update))
            found = _too_large(rate) if large else _too_small(rate)
            yield replace(found, variables=trained_variables(recording, request))


def _judged(recording: Recording) -> Iterator[tuple[Request, bool]]:
    """Requests whose rate is too large, or too small, of trainings that nothing else explains; also where the loss is
    the user's own."""
    for large, stall in ((True, Stall.RATE_TOO_LARGE), (False, Stall.RATE_TOO_SMALL)):
        for objective in stalled_by(recording, stall):
            request = request_of(recording, objective)
            if request is not None:
                yield request, large
    known = {found.where for each in recording.objectives if (found := request_of(recording, each)) is not None}
    for request in recording.requests:
        rate = rate_of(recording, request) if request.losses and request.where not in known else None
        if rate is not None and (is_too_large(rate) or is_too_small(rate)):
            yield request, is_too_large(rate)


def _too_large(rate: Rate) -> Finding:
    return _finding(
        rate,
        f"a learning rate of {rate.rate:g} is likely too large: one step is {rate.step:.2g} times as long as the weights "
        "themselves",
        f"lower it: {_power(rate.fitting):g} fits these weights",
    )


def _too_small(rate: Rate) -> Finding:
    if has_vanished(rate):
        rates = rate.update.rates
        return _finding(
            rate,
            f"the learning rate goes from {rates[0]:.2g} to {rates[-1]:.2g} within {rate.request.ran} steps: in half of "
            f"them it is likely {'at most ' if rate.usual else ''}{rate.usual:.1g}, which changes nothing",
            "let it fall over as many steps as the training has: `decay_steps` counts batches, not epochs",
        )
    return _finding(
        rate,
        f"a learning rate of {rate.rate:g} is likely too small: {rate.request.ran} steps can lower the loss by "
        f"{rate.reach:.1g} of it at most",
        f"raise it: {_power(rate.fitting):g} fits these weights",
    )


def _finding(rate: Rate, message: str, help: str) -> Finding:
    request, known = rate.request, losses(rate.request)
    made = rate.update.made or rate.update.where
    end = last_loss(request)
    return Finding(
        message=message,
        primary=None if made is None else Label(made, "this rate"),
        related=asked(request),
        notes=(f"the loss was {known[0]:.4g} at the first step, and {end:.4g} on average at the last ones",),
        help=help,
        steps=always(request),
        certain=False,
        fixes=partial(rate_changed, rate.update.made, _power(rate.fitting)),
    )


def _power(rate: float) -> float:
    """A rate as people write it: one digit."""
    return float(f"{rate:.0e}")
