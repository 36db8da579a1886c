"""WG706 keras3-api-change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Failure, Recording
from whygrad.graph.event import DeadAttribute
from whygrad.rules.rule import Finding, rule


@rule("WG706", "keras3-api-change", severity=Severity.ERROR, since="0.1.0")
def keras3_api_change(recording: Recording) -> Iterator[Finding]:
    """Detects code for Keras 2 that Keras 3 no longer has.

    ## Why it matters
    Much of what is written about TensorFlow was written for Keras 2. In Keras 3 `optimizer.minimize`,
    `get_updates`, `K.gradients` and others are gone, and a Keras variable is no longer a `tf.Variable`; the
    exception seldom says what to write now.

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
    for event in recording.events_of(DeadAttribute):
        yield Finding(
            message=f"{event.owner} has no `{event.attribute}` in Keras 3: setting it has no effect",
            primary=None if event.where is None else Label(event.where, "nothing looks at this attribute"),
            help=_REMOVED[event.attribute],
        )
    failure = recording.failure
    change = None if failure is None else _change(failure)
    if failure is None or change is None:
        return
    yield Finding(
        message=change[0],
        primary=None if failure.where is None else Label(failure.where, "Keras 3 does not have this"),
        help=change[1],
    )


_REMOVED = {
    "minimize": "take the gradient yourself: `with tf.GradientTape() as tape: ...`, then `optimizer.apply_gradients(...)`",
    "get_scaled_loss": "write `optimizer.scale_loss(loss)` under the tape",
    "get_unscaled_gradients": "hand the scaled gradients to `apply_gradients`: it unscales them itself",
    "get_gradients": "use `tf.GradientTape`",
    "get_updates": "use `tf.GradientTape` and `optimizer.apply_gradients`",
    "_compute_gradients": "use `tf.GradientTape`",
    "compute_gradients": "use `tf.GradientTape`",
    "gradients": "use `tf.GradientTape`",
    "function": "call the model, or wrap your step in `tf.function`",
    "get_session": "there are no sessions any more: call the function directly",
    "fit_generator": "`model.fit` takes generators and data sets itself",
    "evaluate_generator": "`model.evaluate` takes generators itself",
    "predict_generator": "`model.predict` takes generators itself",
    "lr": "the attribute is `learning_rate`",
    "decay": "use a schedule: `keras.optimizers.schedules`",
    "weights": "the attribute is `variables`",
    "get_weights": "read `optimizer.variables`",
    "set_weights": "assign to `optimizer.variables`",
    "get_slot": "read `optimizer.variables`",
    "add_update": "assign in `call`",
    "updates": "assign in `call`",
    "total_loss": "use the `loss` that `compute_loss` returns",
    "compiled_loss": "use `self.compute_loss(...)`",
    "compiled_metrics": "use `self.compute_metrics(...)` or `metric.update_state(...)`",
    "_make_train_function": "override `train_step`",
    "experimental_run_tf_function": "leave it out",
    "losses_utils": "leave it out",
    "set_learning_phase": "pass `training=True` or `training=False` in the call",
    "learning_phase": "pass `training=True` or `training=False` in the call",
    "placeholder": "use `keras.Input`",
}


def _change(failure: Failure) -> tuple[str, str] | None:
    attribute = _missing_attribute(failure)
    if attribute is not None:
        advice = _REMOVED.get(attribute)
        return None if advice is None else (f"Keras 3 has no `{attribute}` here any more", advice)
    if failure.type_name == "ValueError" and failure.message.startswith("Passed in object <Variable"):
        return (
            "a Keras 3 variable is not a `tf.Variable`: the tape cannot watch it",
            "watch `variable.value`, or drop the `watch`",
        )
    if "Argument(s) not recognized" in failure.message or "unexpected keyword argument" in failure.message:
        for old, advice in _ARGUMENTS.items():
            if f"'{old}'" in failure.message:
                return (f"Keras 3 has no argument `{old}` here any more", advice)
    return None


def _missing_attribute(failure: Failure) -> str | None:
    """The attribute of a Keras object that was not there; a converted function keeps only the text."""
    if failure.attribute is not None and (failure.object_type or "").startswith("keras"):
        return failure.attribute
    found = re.search(r"'(\w+)' object has no attribute '(\w+)'", failure.message)
    if found is not None and (found[1].endswith("Optimizer") or found[1] in _KERAS_CLASSES):
        return found[2]
    found = re.search(r"module '(?:tf_)?keras[\w.]*' has no attribute '(\w+)'", failure.message)
    return None if found is None else found[1]


_KERAS_CLASSES = frozenset(
    [
        "Adam",
        "AdamW",
        "Adamax",
        "Adagrad",
        "Adadelta",
        "SGD",
        "RMSprop",
        "Nadam",
        "Ftrl",
        "Lion",
        "Lamb",
        "Sequential",
        "Functional",
        "Model",
    ]
)


_ARGUMENTS = {
    "lr": "write `learning_rate=`",
    "decay": "use a schedule from `keras.optimizers.schedules`",
    "var_list": "use `tf.GradientTape`",
    "batch_input_shape": "write `batch_shape=` on `keras.Input`",
    "weights": "call `layer.set_weights(...)` after building it",
    "experimental_steps_per_execution": "write `steps_per_execution=`",
    "clipnorm_by_global": "write `global_clipnorm=`",
}
