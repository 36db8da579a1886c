"""WG603 python-state-in-graph."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import BakedState
from whygrad.rules.rule import Finding, rule


@rule("WG603", "python-state-in-graph", severity=Severity.WARNING, since="0.1.0")
def python_state_in_graph(recording: Recording) -> Iterator[Finding]:
    """Detects Python numbers that a traced step changes and depends on: they are baked in when the step is traced.

    ## Why it matters
    Inside `tf.function` and `fit` Python runs once, while tracing. A counter like `self.count += 1` stays at its
    first value, and an `if` on it is decided for ever: updates never happen, or always.

    ## Example
    ```python
    import tensorflow as tf

    class Trainer:
        def __init__(self):
            self.w = tf.Variable(2.0, name="w")
            self.count = 0

        @tf.function
        def step(self):
            with tf.GradientTape() as tape:
                loss = tf.square(self.w)
            gradient = tape.gradient(loss, self.w)
            self.count += 1
            if self.count == 2:
                self.w.assign_sub(0.1 * gradient)
            return gradient

    trainer = Trainer()
    gradients = [trainer.step() for _ in range(4)]
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    class Trainer:
        def __init__(self):
            self.w = tf.Variable(2.0, name="w")
            self.count = tf.Variable(0, trainable=False)

        @tf.function
        def step(self):
            with tf.GradientTape() as tape:
                loss = tf.square(self.w)
            gradient = tape.gradient(loss, self.w)
            self.count.assign_add(1)
            if self.count == 2:
                self.w.assign_sub(0.1 * gradient)
            return gradient

    trainer = Trainer()
    gradients = [trainer.step() for _ in range(4)]
    ```

    ## Known limits
    Of numbers that are changed outside the traced function, those in global and closed-over names and in attributes of
    layers are seen, and names only where a loop or another function changes them.
    """
    for event in recording.events_of(BakedState):
        if event.drawn:
            yield _drawn(event)
            continue
        changed = (
            "changed here, after the function was traced" if event.outside else "runs once, when the function is traced"
        )
        yield Finding(
            message=f"`{event.name}` is a Python number in a traced function: it is baked in when that is traced",
            primary=None if event.where is None else Label(event.where, changed),
            related=() if event.read is None else (Label(event.read, "has the first value for ever"),),
            help=f"keep it in a variable (`tf.Variable(0, trainable=False)`, `{event.name}.assign_add(1)`) and branch with `tf.cond`",
        )


def _drawn(event: BakedState) -> Finding:
    return Finding(
        message=f"`{event.name}` is drawn once, when the function is traced: every step gets the same",
        primary=None if event.where is None else Label(event.where, "Python runs this while tracing only"),
        help="draw inside the graph (`tf.random.normal`, `tf.random.uniform`), or outside and pass it in as a tensor",
    )
