"""WG101 non-differentiable-op."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Fix, Severity, Word
from whygrad.fixes.straight_through import compared, positions, rounded, uncast
from whygrad.graph import OpKind, Recording
from whygrad.graph.questions.query import Cut, Reason
from whygrad.rules.no_gradient.claim import claim
from whygrad.rules.no_gradient.missing import MissingCut
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import text_of


@rule("WG101", "non-differentiable-op", severity=Severity.ERROR, since="0.1.0")
def non_differentiable_op(recording: Recording) -> Iterator[Finding]:
    """Detects variables whose every path to the loss goes through an op that has no derivative.

    ## Why it matters
    Positions, comparisons, counts, rounded and integer values do not change when a weight changes a little, so
    TensorFlow gives no gradient for them: it comes back as `None`, and nothing says which expression did it.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([0.3, 0.9, 0.1], name="w")
    with tf.GradientTape() as tape:
        best = tf.cast(tf.argmax(w), tf.float32)
        loss = tf.square(best - 2.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([0.3, 0.9, 0.1], name="w")
    with tf.GradientTape() as tape:
        best = tf.reduce_sum(tf.nn.softmax(w) * tf.constant([0.0, 1.0, 2.0]))
        loss = tf.square(best - 2.0)
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    A cut inside a compiled library function is placed at the call of that function.
    """
    yield from claim(
        recording,
        lambda each: _is_mine(each) and not _is_of_integers(each),
        because=_because,
        label=_label,
        help=_help,
        fixes=_fixes,
    )
    yield from claim(
        recording,
        lambda each: _is_mine(each) and _is_of_integers(each),
        because=lambda cut: (
            f"it holds integers where {text_of(cut.op.where)} takes it, and integers have no derivative"
        ),
        label=lambda cut: f"{cut.op.name} of integers: the gradient stops here",
        help=lambda cut: "keep it in floating point from the beginning: `1.0` instead of `1`, or a floating dtype",
    )


_FIXES = {
    OpKind.ROUND: rounded,
    OpKind.CAST: uncast,
    OpKind.COMPARE: compared,
    OpKind.INDEX: positions,
    OpKind.ONE_HOT: positions,
}


def _fixes(missing: MissingCut) -> Iterator[Fix]:
    builder = _FIXES.get(missing.cut.op.kind)
    return iter(()) if builder is None else builder(missing.cut.op.where)


def _is_mine(missing: MissingCut) -> bool:
    return missing.cut.reason is Reason.BLOCKED and missing.cut.op.custom is None and not missing.is_draw


def _is_of_integers(missing: MissingCut) -> bool:
    """Whether the op has a derivative, but not for what it was given."""
    cut = missing.cut
    taken = missing.request.graph.tensors.get(cut.op.inputs[cut.input]) if cut.op.inputs else None
    return taken is not None and "int" in taken.dtype and cut.op.kind in _DIFFERENTIABLE


_DIFFERENTIABLE = (OpKind.ELEMENTWISE, OpKind.CONTRACT, OpKind.REDUCE, OpKind.POWER, OpKind.MOVE, OpKind.CLIP)
_WORDS = {
    OpKind.INDEX: "gives positions or counts, which have no derivative",
    OpKind.COMPARE: "compares, and a truth value has no derivative",
    OpKind.ROUND: f"rounds, and {Word.FRAMEWORK} gives no gradient for rounding",
    OpKind.CAST: "casts to a type that carries no gradient",
    OpKind.ONE_HOT: "takes integer positions, which carry no gradient",
}


def _because(cut: Cut) -> str:
    return f"every path to the loss goes through `{cut.op.name}`, which {_WORDS.get(cut.op.kind, 'has no derivative')}"


def _label(cut: Cut) -> str:
    return f"{cut.op.name}: the gradient stops here"


_HELPS = {
    OpKind.INDEX: "train on a soft version (softmax weights instead of argmax, a kernel instead of a histogram) and "
    "use the hard one for metrics only; `wg.sampling.straight_through_onehot(logits)` keeps the hard value and a gradient",
    OpKind.COMPARE: f"replace the comparison by a smooth surrogate (`{Word.SIGMOID}(k * (a - b))`, a cross-entropy), or use "
    "it for metrics only",
    OpKind.ROUND: "keep the value unrounded in the loss, or pass the gradient straight through: "
    "`wg.sampling.straight_through_round(x)`",
    OpKind.CAST: "keep this value in floating point, or move the cast out of the loss",
    OpKind.ONE_HOT: "feed the probabilities themselves to the loss instead of their one-hot positions",
}


def _help(cut: Cut) -> str:
    return _HELPS.get(cut.op.kind, "use a differentiable expression for the loss, and this one for metrics only")
