"""WG412 nan-clip."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.graph import Recording
from whygrad.graph.nonfinite import Stage
from whygrad.rules.nonfinite.birth import seen, spread_of, steps_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names, text_of


@rule("WG412", "nan-clip", severity=Severity.ERROR, since="0.1.0")
def nan_clip(recording: Recording) -> Iterator[Finding]:
    """Detects clipping by the global norm that turns one bad gradient into NaN for every variable.

    ## Why it matters
    `tf.clip_by_global_norm` scales all gradients by one number. If a single element of a single gradient is Inf or
    NaN, that number is NaN, and with it every gradient and, after the update, every weight of the model.

    ## Example
    ```python
    import tensorflow as tf
    import keras

    healthy = tf.Variable([0.1, 0.2], name="healthy")
    risky = tf.Variable(100.0, name="risky")
    optimizer = keras.optimizers.SGD(0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(healthy)) + tf.exp(risky)
    gradients = tape.gradient(loss, [healthy, risky])
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, [healthy, risky]))
    ```

    ## Use instead
    ```python
    import tensorflow as tf
    import keras

    healthy = tf.Variable([0.1, 0.2], name="healthy")
    risky = tf.Variable(10.0, name="risky")
    optimizer = keras.optimizers.SGD(0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(healthy)) + tf.exp(tf.minimum(risky, 20.0))
    gradients = tape.gradient(loss, [healthy, risky])
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    if tf.math.is_finite(norm):
        optimizer.apply_gradients(zip(gradients, [healthy, risky]))
    ```

    ## Known limits
    Inside compiled steps the spreading is seen only where the step can be replayed. Where the first bad value is known,
    its own rule reports it as an error, and this one adds a warning.
    """
    for spread in seen(recording, Stage.SPREAD):
        born = next((each for each in seen(recording, Stage.BORN) if spread_of(recording, each) is spread), None)
        if born is not None and born.when.loss_is_bad and born.when.symptom == "NaN":
            continue  # of a loss that is NaN there is nothing to save
        victims, culprits = names(recording, spread.variables), names(recording, spread.culprits)
        by = "the optimizer's clipping by the global norm" if spread.inside_optimizer else text_of(spread.where)
        origin = () if born is None or born.where is None else (Label(born.where, "the first bad value is made here"),)
        yield Finding(
            message=f"the gradient of {listing(victims)} becomes NaN in {by}, "
            f"because that of {listing(culprits)} is not finite",
            primary=None if spread.where is None else Label(spread.where, "one bad gradient makes the common norm NaN"),
            variables=(*victims, *culprits),
            related=origin,
            help="fix the first bad value, and apply nothing where the global norm is not finite: "
            f"`if {Word.IS_FINITE}({Word.GLOBAL_NORM}(gradients))`",
            severity=None if born is None else Severity.WARNING,  # the birth is reported by its own rule, as the error
            steps=Steps() if born is None else steps_of(born.when),
        )
