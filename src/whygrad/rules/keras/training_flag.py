"""WG705 training-flag."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import partial

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.losses import in_training_mode
from whygrad.graph import Recording, VariableId
from whygrad.graph.objects import Call, ObjectCalled, Trained
from whygrad.graph.recording import ABSENT
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import also_at, listing
from whygrad.source import SourceSpan
from whygrad.source.module import blocks_around
from whygrad.source.training_call import unknowing_step


@rule("WG705", "training-flag", severity=Severity.WARNING, since="0.1.0")
def training_flag(recording: Recording) -> Iterator[Finding]:
    """Detects layers that behave differently in training but are called without `training=True` in a training step.

    ## Why it matters
    Outside `fit`, a Keras model that is called without `training=True` runs as in inference: dropout does nothing,
    batch normalisation uses and never updates its running statistics.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Known limits
    A model that is called with the flag anywhere under a tape that trains is taken to be used knowingly; so is `training=False`
    in the training step itself, and where the statistics of the normalisation come from elsewhere.
    """
    asked = {
        source.variable for request in recording.requests for source in request.sources if source.outcome not in ABSENT
    }
    in_fit = {event.where for event in recording.events_of(Trained)}
    moved = {pair.variable for update in recording.updates if update.where not in in_fit for pair in update.pairs}
    if not recording.updates:  # a step that is only looked at, as in `explain`
        moved = {variable for variable in asked if variable is not None}
    trains, looks = _entered(recording, moved)
    for event in recording.events_of(ObjectCalled):
        taped = [call for call in event.calls if call.taped and not _is_look(call, trains, looks)]
        if not taped or not event.mode_dependent or not asked & moved & set(event.variables):
            continue
        yield from _refused(event)
        if any(call.training is not None for call in taped):
            continue
        where = taped[-1].where
        yield Finding(
            message=f"`{event.name}` is trained in inference mode: {_depend(event.mode_dependent)} on "
            "`training=True`, which is not given",
            primary=None if where is None else Label(where, "called without `training=True`"),
            related=also_at((call.where for call in taped), but=where),
            help="call it with `training=True` in the training step (or say `training=False` where that is meant)",
            fixes=partial(in_training_mode, [call.where for call in taped]),
        )


def _entered(recording: Recording, moved: Set[VariableId]) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """Where tapes begin whose gradients move something, and where those begin that only look at gradients."""
    trains, looks = set[tuple[str, int]](), set[tuple[str, int]]()
    for request in recording.requests:
        tape = recording.tapes.get(request.tape)
        if tape is not None and tape.entered is not None:
            kind = trains if any(source.variable in moved for source in request.sources) else looks
            kind.add((tape.entered.file, tape.entered.line))
    return trains, looks


def _is_look(call: Call, trains: set[tuple[str, int]], looks: set[tuple[str, int]]) -> bool:
    """Whether a call is made under tapes alone that move nothing: what is asked of the model there is no training."""
    around = {block for span in (call.where, *call.callers) for block in blocks_around(span)}
    return not around.isdisjoint(looks) and around.isdisjoint(trains)


def _refused(event: ObjectCalled) -> Iterator[Finding]:
    """A function says `training=False` for a training step that does not know of it."""
    if event.has_statistics or any(call.training for call in event.calls):
        return  # inference mode is how fine-tuning is done, and who says True once knows of the flag
    for call in event.calls:
        step = _unknowing_step(event, call)
        if call.where is not None and step is not None:
            yield Finding(
                message=f"`{event.name}` is likely trained in inference mode: {_depend(event.mode_dependent)} on "
                "`training=True`, and the function that the step calls says `False`",
                primary=Label(call.where, "says `training=False`, in training too"),
                related=(Label(step, "the training step calls it here"),),
                help="give the function a `training` argument and pass `training=True` from the training step",
                certain=False,
            )
            return


def _unknowing_step(event: ObjectCalled, call: Call) -> SourceSpan | None:
    if call.where is None or not call.taped or call.training is not False:
        return None
    elsewhere = any(other.where == call.where and not other.taped for other in event.calls)
    return unknowing_step(call.where, call.callers, used_elsewhere=elsewhere)


def _depend(layers: tuple[str, ...]) -> str:
    return f"{listing(layers)} {'depends' if len(layers) == 1 else 'depend'}"
