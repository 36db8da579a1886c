"""WG302 sampling-noise-unused."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import NoiseUnused
from whygrad.rules.rule import Finding, rule


@rule("WG302", "sampling-noise-unused", severity=Severity.WARNING, since="0.1.0")
def sampling_noise_unused(recording: Recording) -> Iterator[Finding]:
    """Detects random draws under a tape that nothing uses.

    ## Why it matters
    In a VAE or a policy the noise makes the sample. If it is drawn but a constant is used in its place, the model
    is deterministic, trains without complaint, and generates nothing new.

    ## Example
    ```python
    import tensorflow as tf

    mean = tf.Variable([0.1, 0.2], name="mean")
    scale = tf.Variable([1.0, 1.0], name="scale")
    with tf.GradientTape() as tape:
        noise = tf.random.normal((2,))
        sample = mean + scale * 1.0
        loss = tf.reduce_sum(tf.square(sample))
    gradients = tape.gradient(loss, [mean, scale])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    mean = tf.Variable([0.1, 0.2], name="mean")
    scale = tf.Variable([1.0, 1.0], name="scale")
    with tf.GradientTape() as tape:
        noise = tf.random.normal((2,))
        sample = mean + scale * noise
        loss = tf.reduce_sum(tf.square(sample))
    gradients = tape.gradient(loss, [mean, scale])
    ```

    ## Known limits
    A draw that is used only after the gradient was taken counts as unused.
    """
    for event in recording.events_of(NoiseUnused):
        yield Finding(
            message="a random draw is made under the tape but nothing uses it",
            primary=Label(event.where, "drawn here, then dropped"),
            help="use the drawn noise in the sample, for example `mean + scale * noise`, or do not draw it",
        )
