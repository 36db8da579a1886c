"""WG307 vanishing-gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.diagnostics import Severity
from whygrad.graph import Recording
from whygrad.rules.odd_gradient.over_steps import always, asked, measured, track_of
from whygrad.rules.odd_gradient.series import find_vanishing
from whygrad.rules.rule import Finding, rule


@rule("WG307", "vanishing-gradient", severity=Severity.WARNING, since="0.1.0")
def vanishing_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects networks whose first layers get next to no gradient, because each layer on the way shrinks it.

    ## Why it matters
    A `sigmoid` passes on a quarter of the gradient at best, so twenty of them in a row leave nothing for the first
    layers. They keep their random start; the network is as good as its last few layers.

    ## Example
    ```python
    import tensorflow as tf

    weights = [tf.Variable(tf.random.normal((8, 8), stddev=0.5, seed=i), name=f"level_{i}/kernel") for i in range(16)]
    x = tf.random.normal((32, 8), seed=99)
    for _ in range(20):
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = tf.sigmoid(y @ w)
            loss = tf.reduce_mean((y - x) ** 2)
        gradients = tape.gradient(loss, weights)
        for gradient, w in zip(gradients, weights):
            w.assign_sub(0.5 * gradient)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    weights = [tf.Variable(tf.random.normal((8, 8), stddev=0.5, seed=i), name=f"level_{i}/kernel") for i in range(16)]
    x = tf.random.normal((32, 8), seed=99)
    for _ in range(20):
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = y + tf.sigmoid(y @ w)
            loss = tf.reduce_mean((y - x) ** 2)
        gradients = tape.gradient(loss, weights)
        for gradient, w in zip(gradients, weights):
            w.assign_sub(0.001 * gradient)
    ```

    ## Known limits
    The first of at least four kernels must get less than 1e-5 of what the last one gets, per element, at the median
    of ten steps or more, and the gradients must grow from layer to layer.
    """
    for request, group in measured(recording):
        for finding in find_vanishing(track_of(request, group)):
            yield replace(finding, primary=next(iter(asked(request)), None), steps=always(request))
