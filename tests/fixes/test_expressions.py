"""Rewrites of one expression or statement."""

from __future__ import annotations

from typing import Any

import pytest

from fixes.rewritten import first, rewritten
from whygrad.fixes import finite, losses, networks, straight_through, tapes, variables

HEAD = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("rewrite", "before", "after"),
    [
        (straight_through.rounded, "y = «tf.round(x)»", "y = x + tf.stop_gradient(tf.round(x) - x)"),
        (straight_through.rounded, "y = 2 * «tf.floor(a + b)»", None),
        (straight_through.uncast, "y = tf.cast(«tf.cast(x, tf.int32)», tf.float32)", None),
        (straight_through.unstopped, "y = f(«tf.stop_gradient(x)»)", "y = f(x)"),
        (straight_through.unstopped, "p = «tf.stop_gradient(p)»\ny = f(p)", "y = f(p)"),
        (
            tapes.persistent,
            "with «tf.GradientTape()» as t:\n    pass",
            "with tf.GradientTape(persistent=True) as t:\n    pass",
        ),
        (variables.assigned_in_place, "w = «w - r * g»", "w.assign(w - r * g)"),
        (variables.assigned_in_place, "w -= «r * g»  # step", "w.assign_sub(r * g)  # step"),
        (variables.assigned_in_place, "a, b = «a - g», b - h", "a.assign(a - g)\nb.assign(b - h)"),
        (
            variables.assigned_in_place,
            "if a:\n\tws = [«w - g» for w, g in zip(ws, gs)]",
            "if a:\n\tfor w, g in zip(ws, gs):\n\t    w.assign(w - g)",
        ),
        (losses.exchanged, "l = «bce(prediction, label)»", "l = bce(label, prediction)"),
        (finite.deviation, "s = «tf.math.reduce_std(x, axis=0)»", None),
        (finite.power, "y = «x ** p»", "y = tf.maximum(x, 1e-6) ** p"),
        (finite.quotient, "y = «a / b» + c", "y = tf.math.divide_no_nan(a, b) + c"),
        (finite.exponential, "y = tf.math.log(1.0 + «tf.exp(x)»)", "y = tf.nn.softplus(x)"),
        (finite.inside_range, "y = «tf.acos(x)»", "y = tf.acos(tf.clip_by_value(x, -1.0 + 1e-6, 1.0 - 1e-6))"),
        (variables.thawed, "p = «tf.Variable(x, trainable=False)»", "p = tf.Variable(x, trainable=True)"),
    ],
)
def test_a_place_is_rewritten(rewrite: Any, before: str, after: str | None) -> None:
    changed = first(HEAD + before, rewrite)

    compile(changed, "changed", "exec")
    if after is not None:
        assert changed == HEAD + after


def test_the_value_stays_when_a_gradient_goes_straight_through() -> None:
    code = HEAD + "hits = tf.cast(«p > 0.5», tf.float32)\n"

    assert first(code, straight_through.compared) == (
        HEAD + "hits = tf.sigmoid(p - 0.5) + tf.stop_gradient(tf.cast(p > 0.5, tf.float32) - tf.sigmoid(p - 0.5))\n"
    )


def test_the_correction_of_a_straight_through_estimator_is_left_alone() -> None:
    assert rewritten(HEAD + "q = z + «tf.stop_gradient(picked - z)»", straight_through.unstopped) == []


def test_a_select_guards_the_input_of_the_branch_that_is_not_taken() -> None:
    code = HEAD + "y = «tf.where(x > 0, a, 1.0 - «tf.math.log(x)»)»"

    def guarded(select: Any, risky: Any) -> Any:
        return finite.safe_where(risky, select)

    assert first(code, guarded) == (
        HEAD + "y = tf.where(x > 0, a, 1.0 - tf.math.log(tf.where(x > 0, tf.ones_like(x), x)))"
    )


def test_a_tape_watches_from_the_first_line_or_from_where_a_name_is_bound() -> None:
    watch = lambda entered: tapes.watched(entered, "x")  # noqa: E731

    assert first("with «tape()» as t:\n    y = f(x)\n", watch) == "with tape() as t:\n    t.watch(x)\n    y = f(x)\n"
    assert first("with «tape()» as t:\n    x = g()\n    y = f(x)\n", watch) == (
        "with tape() as t:\n    x = g()\n    t.watch(x)\n    y = f(x)\n"
    )
    assert rewritten("with «tape()» as t:\n    y = f(x)\n", lambda entered: tapes.watched(entered, "the source")) == []


def test_a_plain_class_becomes_a_layer() -> None:
    code = "import keras\n\nclass Positive:\n    def __init__(self):\n        self.v = «keras.Variable(1.0)»\n"

    assert rewritten(code, variables.tracked)[-1] == (
        "import keras\n\nclass Positive(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.v = keras.Variable(1.0)\n"
    )


def test_the_terms_of_a_network_are_added_where_the_loss_is_bound() -> None:
    code = HEAD + "with tape() as t:\n    loss = mse(y, «net(x)»)  # data\ng = «t.gradient(loss, ws)»\n"

    def added(called: Any, asked: Any) -> Any:
        return losses.with_own_terms(asked, called, None)

    assert first(code, added) == HEAD + (
        "with tape() as t:\n    loss = mse(y, net(x))  # data\n    loss += tf.add_n(net.losses)\n"
        "g = t.gradient(loss, ws)\n"
    )


@pytest.mark.parametrize(
    ("rewrite", "before", "after"),
    [
        (networks.each_made_anew, "ms = «[make()] * n»", "ms = [make() for _ in range(n)]"),
        (networks.wider, "l = «tf.reduce_sum(tf.square(h))»", "l = tf.reduce_sum(tf.square(tf.cast(h, tf.float32)))"),
        (networks.larger_epsilon, "u = «x / (norm(x) + 1e-22)»", "u = x / (norm(x) + 1e-4)"),
        (networks.leaking, 'd = «Dense(4, activation="relu")»', 'd = Dense(4, activation="leaky_relu")'),
    ],
)
def test_a_network_is_rewritten(rewrite: Any, before: str, after: str) -> None:
    assert first(HEAD + before, rewrite) == HEAD + after


def test_a_second_name_becomes_a_copy_with_the_same_weights() -> None:
    assert first("import keras\nself.target = «self.net»  # slow\n", networks.copied) == (
        "import keras\nself.target = keras.models.clone_model(self.net)  # slow\n"
        "self.target.set_weights(self.net.get_weights())\n"
    )
