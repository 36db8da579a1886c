"""WG706 keras3-api-change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity
from whygrad.fixes.updates import attribute_renamed
from whygrad.graph import Failure, Recording
from whygrad.graph.objects import AttributeSet, Compiled
from whygrad.rules.keras.keras3_change import REMOVED, change_of
from whygrad.rules.rule import Finding, rule


@rule("WG706", "keras3-api-change", severity=Severity.ERROR, since="0.1.0")
def keras3_api_change(recording: Recording) -> Iterator[Finding]:
    """Detects code for Keras 2 that Keras 3 no longer has.

    ## Why it matters
    Much of what is written about TensorFlow was written for Keras 2. In Keras 3 `optimizer.minimize`,
    `get_updates`, `K.function` and others are gone, a functional model takes no `add_loss`, TensorFlow functions no
    longer take symbolic tensors, and a Keras variable is no longer a `tf.Variable`; the exception seldom says what to
    write now. Names of TensorFlow 1 (`tf.assign`, `tf.Session`, `tf.log`) are reported as well; what they are called
    now, the installed packages say.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.minimize(lambda: tf.square(w), var_list=[w])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.square(w)
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    Only what ended the run is seen.
    """
    for event in recording.events_of(AttributeSet):
        if event.known or event.attribute not in _OLD_NAMES or not event.base.startswith("keras."):
            continue
        yield Finding(
            message=f"the optimizer has no `{event.attribute}` in Keras 3: setting it has no effect",
            primary=None if event.where is None else Label(event.where, "nothing looks at this attribute"),
            help=REMOVED[event.attribute],
            fixes=partial(attribute_renamed, event.where, "lr", "learning_rate"),
        )
    for compiled in recording.events_of(Compiled):
        if compiled.metrics_as_weights:
            yield Finding(
                message="the third argument of `compile` is `loss_weights` in Keras 3, and is given metrics",
                primary=None if compiled.where is None else Label(compiled.where, "taken for weights of the losses"),
                help="name it: `metrics=[...]`",
            )
    failure = recording.failure
    change = None if failure is None else change_of(failure)
    if failure is None or change is None:
        return
    yield Finding(
        message=change.what,
        primary=None if failure.where is None else Label(failure.where, "written for an older version"),
        help=change.instead,
        fixes=partial(_renamed, failure),
    )


def _renamed(failure: Failure) -> Iterator[Fix]:
    if failure.attribute is not None and failure.similar is not None:
        yield from attribute_renamed(failure.where, failure.attribute, failure.similar)
    elif failure.attribute in _NEW_NAMES:
        yield from attribute_renamed(failure.where, failure.attribute, _NEW_NAMES[failure.attribute])


_NEW_NAMES = {
    "lr": "learning_rate",
    "get_scaled_loss": "scale_loss",
    "fit_generator": "fit",
    "evaluate_generator": "evaluate",
    "predict_generator": "predict",
    "predict_proba": "predict",
    "weights": "variables",
    "kullback_leibler_divergence": "kl_divergence",
}
_OLD_NAMES = ("lr", "decay")  # that an optimizer of Keras 2 had; version 3 takes them without a word
