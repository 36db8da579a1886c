"""WG106 non-reparameterised-sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from whygrad.diagnostics import Severity
from whygrad.fixes.straight_through import drawn
from whygrad.graph import Action, Op, OpKind, Recording
from whygrad.graph.questions.query import Reason
from whygrad.rules.no_gradient.claim import claim, refusal, refused
from whygrad.rules.rule import Finding, rule


@rule("WG106", "non-reparameterised-sample", severity=Severity.ERROR, since="0.1.0")
def non_reparameterised_sample(recording: Recording) -> Iterator[Finding]:
    """Detects random draws on every path to the loss whose parameters get no gradient.

    ## Why it matters
    A draw from a categorical, Poisson or Bernoulli distribution jumps from value to value, so there is no
    derivative of the sample by its parameters. Policies and generators trained through it stand still.

    ## Example
    ```python
    import tensorflow as tf

    logits = tf.Variable([[0.1, 0.2, 0.3]], name="logits")
    reward = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        action = tf.random.categorical(logits, 8)
        loss = -tf.reduce_mean(tf.gather(reward, action))
    gradients = tape.gradient(loss, [logits])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    logits = tf.Variable([[0.1, 0.2, 0.3]], name="logits")
    reward = tf.constant([1.0, 2.0, 4.0])
    action = tf.random.categorical(logits, 8)
    with tf.GradientTape() as tape:
        log_probability = tf.gather(tf.nn.log_softmax(logits)[0], action[0])
        loss = -tf.reduce_mean(log_probability * tf.gather(reward, action[0]))
    gradients = tape.gradient(loss, [logits])
    ```

    ## Known limits
    A draw made by comparing a probability with uniform noise is recognised where the noise enters the comparison
    directly.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.SAMPLED or missing.is_draw,
        because=lambda cut: "every path to the loss goes through a random draw that is not reparameterised",
        label=lambda cut: _label(cut.op),
        help=lambda cut: _help(cut.op),
        fixes=lambda missing: drawn(missing.cut.op.where),
    )
    for request, op in refused(recording):
        if op is not None and op.kind is OpKind.SAMPLE:
            yield refusal(
                recording,
                request,
                op,
                what="a random draw by its parameters",
                label=_label(op),
                help=_help(op),
                fixes=partial(drawn, op.where),
            )


_SCORE_FUNCTION: Final = "use the score function (`wg.sampling.score_function`"


def _label(op: Op) -> str:
    return f"{op.name}: the sample has no gradient with respect to its parameters"


def _help(op: Op) -> str:
    if op.action is Action.DRAW_CATEGORY:
        return f"{_SCORE_FUNCTION} with `draw_categorical`), or a relaxed sample (`wg.sampling.gumbel_softmax(logits)`)"
    if op.kind is OpKind.COMPARE:  # with noise: a bit
        return f"{_SCORE_FUNCTION} with `draw_bernoulli`), or a relaxed bit (`wg.sampling.relaxed_bernoulli(logits)`)"
    mean = ", or the mean of the draw in its place" if op.action is Action.DRAW_COUNT else ""
    return f"{_SCORE_FUNCTION}, with the log-probability of what was drawn){mean}"
