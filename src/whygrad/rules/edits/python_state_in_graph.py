"""WG603 python-state-in-graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.states import drawn_anew, in_variable
from whygrad.graph import Recording
from whygrad.rules.baked_state import BakedState, baked_states
from whygrad.rules.rule import Finding, rule
from whygrad.source import source_text


@rule("WG603", "python-state-in-graph", severity=Severity.WARNING, since="0.1.0")
def python_state_in_graph(recording: Recording) -> Iterator[Finding]:
    """Detects Python numbers that a traced step changes and depends on: they are baked in when the step is traced.

    ## Why it matters
    Inside `tf.function` and `fit` Python runs once, while tracing. A counter like `self.count += 1` stays at its
    first value, and an `if` on it is decided forever: updates never happen, or always. So it is where the step has
    another object count, by `self.gate.tick()`, and asks it, by `self.gate.is_open`.

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
    Numbers in containers are not seen, nor is what an inner function draws; of numbers in enclosing functions only those
    that a loop or another function changes; of other objects, those whose classes are in the same file; of tensors those that the function itself keeps for its next call.
    """
    for state in baked_states(recording):
        if not state.replaced:  # a network that was replaced is another rule's
            yield _drawn(state) if state.drawn else _kept(state)


def _kept(state: BakedState) -> Finding:
    changed = (
        "changed here, after the function was traced" if state.outside else "runs once, when the function is traced"
    )
    first = "keeps the first value forever"
    where = state.where or state.read
    what = (
        "a Python object with numbers" if state.is_object else "an attribute" if state.is_tensor else "a Python number"
    )
    return Finding(
        message=f"`{state.name}` is {what} in a traced function: its value is read once, when the function is traced",
        primary=None if where is None else Label(where, first if state.where is None else changed),
        related=() if state.read in (None, where) else (Label(state.read, first),),
        help=_help(state),
        fixes=lambda: () if state.is_object or state.is_tensor else in_variable(where, state.name),
    )


def _help(state: BakedState) -> str:
    if state.is_object:
        return f"keep its numbers in variables (`{Word.VARIABLE}(0.0, trainable=False)`) and assign to those"
    if state.is_tensor:
        made = f"`{Word.VARIABLE}(..., trainable=False)`"
        return f"keep it in a variable ({made}) that is changed by `{Word.ASSIGN}`, or pass it in and return it"
    if state.outside or state.where is None:
        made = f"`{Word.VARIABLE}({state.name}, trainable=False)`"
        return (
            f"keep it in a variable ({made}) that is changed by `{Word.ASSIGN}`, or pass it to the function as a tensor"
        )
    if "+=" not in (source_text(state.where) or "+="):
        return f"keep it in a variable (`{Word.VARIABLE}(..., trainable=False)`) and change that by `{Word.ASSIGN}`"
    counter = f"`{Word.VARIABLE}(0, trainable=False)`, `{state.name}.{Word.ASSIGN_ADD}(1)`"
    return f"keep it in a variable ({counter}) and compute with that, or branch on it with `{Word.COND}`"


def _drawn(state: BakedState) -> Finding:
    what, instead = _DRAWN[state.drawn]
    return Finding(
        message=f"`{state.name}` {what} while the function is traced: every later step has the same value",
        primary=None if state.where is None else Label(state.where, "runs once, when the function is traced"),
        related=() if state.read is None else (Label(state.read, "decided once, for all steps"),),
        help=instead,
        fixes=partial(drawn_anew, state.where),
    )


_DRAWN = {
    "random": (
        "draws random numbers",
        f"draw with {Word.FRAMEWORK} (`{Word.RANDOM_UNIFORM}(())`) and branch with `{Word.COND}`",
    ),
    "time": ("reads the clock", f"read it outside and pass it in as a tensor, or use `{Word.CLOCK}()`"),
}
