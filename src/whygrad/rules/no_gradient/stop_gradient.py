"""WG103 stop-gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from whygrad.diagnostics import Fix, FixSafety, Severity
from whygrad.fixes.straight_through import unstopped
from whygrad.graph import Action, OpKind, Recording, Request, TensorId, VariableId
from whygrad.graph.questions.query import Index, Reason, index_of
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import MissingCut
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG103", "stop-gradient", severity=Severity.ERROR, since="0.1.0")
def stop_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects variables whose every path to the loss goes through a `stop_gradient`, and that no other loss trains.

    ## Why it matters
    `tf.stop_gradient` is right for targets and straight-through tricks. On the only path of a variable it means that
    the variable never learns, and TensorFlow says nothing about it.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")
    y = tf.Variable(2.0, name="y")
    with tf.GradientTape() as tape:
        loss = tf.square(tf.stop_gradient(x) * y)
    gradients = tape.gradient(loss, [x, y])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    x = tf.Variable(1.0, name="x")
    y = tf.Variable(2.0, name="y")
    with tf.GradientTape() as tape:
        loss = tf.square(x * y)
    gradients = tape.gradient(loss, [x, y])
    ```

    ## Known limits
    Where the variable is left out on purpose, do not ask for its gradient: then nothing is reported.
    """
    yield from claim(
        recording,
        lambda missing: missing.cut.reason is Reason.STOPPED and missing.cut.op.custom is None,
        because=lambda cut: "every path to the loss goes through a `stop_gradient`",
        label=lambda cut: "the gradient stops here",
        help=lambda cut: f"take {text_of(cut.op.where)} out of the path, or do not ask for this gradient",
        fixes=_fixes,
    )


def _fixes(missing: MissingCut) -> Iterator[Fix]:
    """What is one of two sides is shown only: which of them is to be stopped, the author alone can say."""
    for fix in unstopped(missing.cut.op.where):
        yield replace(fix, safety=FixSafety.DISPLAY_ONLY) if _is_one_of_two_sides(missing) else fix


def _is_one_of_two_sides(missing: MissingCut) -> bool:
    """Whether the value meets, in a difference or a product, another one that the same variables made."""
    index, stop = index_of(missing.request.graph), missing.cut.op
    own, ahead = _variables(index, stop.inputs, missing.request), index.ahead(set(stop.outputs))
    for op in missing.request.graph.ops:
        others = [
            each for each in op.inputs if each not in ahead and index.tensors[each].shape != ()
        ]  # no terms of a loss
        if op.action in _MEETING and len(others) < len(op.inputs) and _variables(index, others, missing.request) & own:
            return True
    return False


_MEETING: Final = (Action.SUBTRACT, Action.SQUARED_DIFFERENCE, Action.MULTIPLY)


def _variables(index: Index, tensors: Iterable[TensorId], request: Request) -> set[VariableId | None]:
    """The variables that tensors are computed from under the tape of a request."""
    behind = index.behind(tuple(tensors))
    reads = [op for op in index.ops if op.kind is OpKind.READ and request.tape in op.tapes]
    return {op.variable for op in reads if not behind.isdisjoint(op.outputs)}
