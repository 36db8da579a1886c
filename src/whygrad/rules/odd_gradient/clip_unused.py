"""WG311 clip-unused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording
from whygrad.graph.event import GradientChange
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import asked_at
from whygrad.source import SourceSpan
from whygrad.source.module import Module, located


@rule("WG311", "clip-unused", severity=Severity.WARNING, since="0.1.0")
def clip_unused(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are clipped, while the update is given the gradients as they were.

    ## Why it matters
    Clipping gives new tensors and leaves the gradients alone. After the update, or where its result is dropped, it does
    nothing: training runs without the clipping that the code seems to have.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([3.0, 4.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**4)
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable([3.0, 4.0], name="w")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**4)
    gradients = tape.gradient(loss, [w])
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    What is clipped and then only printed is taken as meant, and so is a result that is given a name with `_` in front, but
    for a function that has `clip` in its name.
    """
    for event in recording.events_of(GradientChange):
        where = event.clipped
        if not event.unused or where is None or _is_left_out(where):
            continue
        yield Finding(
            message="the gradients are clipped, but nothing uses the result: the update takes them unclipped",
            primary=Label(where, "makes clipped copies that are dropped"),
            variables=asked_at(recording, event.asked),
            related=()
            if event.asked in (None, where)
            else (Label(event.asked, "these gradients are applied as they are"),),
            help="clip before the update, and apply what the clipping gives back",
        )


def _is_left_out(where: SourceSpan) -> bool:
    """Whether the result is given to a name that says that nobody wants it: `_, norm = ...`.

    In a function that says that it clips, somebody does.
    """
    found = located(where)
    statement = None if found is None else found[0].statement(found[1])
    if found is None or not isinstance(statement, ast.Assign) or "clip" in _name_of_scope(*found):
        return False
    target = statement.targets[0]
    first = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) and target.elts else target
    return isinstance(first, ast.Name) and first.id.startswith("_")


def _name_of_scope(module: Module, node: ast.AST) -> str:
    return str(getattr(module.scope(node), "name", ""))
