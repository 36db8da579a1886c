"""The last layer, the loss, the rate; and what a gradient is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from fixes.rewritten import first, rewritten
from whygrad.diagnostics import Word
from whygrad.fixes.finite import exponential
from whygrad.fixes.losses import compared_with, turned_round
from whygrad.fixes.making import built_before, built_for_all, made_once, owner_made_once
from whygrad.fixes.outputs import (
    bent,
    last_step_only,
    layer_given,
    output_changed,
    rate_changed,
    text_changed,
)
from whygrad.fixes.sources import right_source, with_gradient
from whygrad.fixes.straight_through import lone_softmax
from whygrad.fixes.tapes import watched_itself

HEAD = "import tensorflow as tf\n"
LARGEST = "tf.reduce_max(s, axis=-1, keepdims=True)"


@pytest.mark.parametrize(
    ("before", "options", "after"),
    [
        ('«Dense(1, activation="relu")»; «"mse"»', {"activation": ""}, 'Dense(1, activation=None); "mse"'),
        ('«Dense(1)»; «"mse"»', {"activation": "softmax", "units": 4}, 'Dense(4, activation="softmax"); "mse"'),
        ('«Activation("relu")»; «"mse"»', {"activation": "sigmoid"}, 'Activation("sigmoid"); "mse"'),
        ('«tf.nn.relu(x)»; «"mse"»', {"activation": ""}, 'x; "mse"'),
        ('«Dense(3)»; «"mse"»', {"named": Word.SPARSE_CROSS_ENTROPY}, 'Dense(3); "sparse_categorical_crossentropy"'),
        (
            "«Dense(3)»; «losses.CategoricalCrossentropy(True)»",
            {"named": Word.SPARSE_CROSS_ENTROPY},
            "Dense(3); losses.SparseCategoricalCrossentropy(True)",
        ),
        ("«Dense(3)»; «L(from_logits=True)»", {"option": ("from_logits", "False")}, "Dense(3); L(from_logits=False)"),
    ],
)
def test_a_layer_and_its_loss_are_changed(before: str, options: dict[str, Any], after: str) -> None:
    assert first(HEAD + before, output_changed, **options) == HEAD + after


def test_nothing_is_offered_where_one_of_the_changes_cannot_be_made() -> None:
    assert rewritten("«Dense(1)»; «my_loss»", output_changed, activation="sigmoid", named=Word.SQUARED_ERROR) == []
    assert rewritten("«layer»; «'mse'»", output_changed, activation="sigmoid") == []


def test_a_rate_is_changed_or_given() -> None:
    assert first("«SGD(learning_rate=5.0)»", rate_changed, 0.01) == "SGD(learning_rate=0.01)"
    assert first("«Adam()»", rate_changed, 0.001) == "Adam(learning_rate=0.001)"


def test_layers_and_metrics_are_changed() -> None:
    assert first("«Dense(8)»; «Dense(8)»", lambda *spans: bent(spans)) == (
        'Dense(8, activation="relu"); Dense(8, activation="relu")'
    )
    assert first("«Dropout(0.9)»", layer_given, 0, "rate", "0.2") == "Dropout(0.2)"
    assert first('m = «["accuracy", "mae"]»', text_changed, "accuracy", "mse") == 'm = ["mse", "mae"]'
    assert rewritten("m = «metrics»", text_changed, "accuracy", "mse") == []


def test_the_last_step_alone_is_kept() -> None:
    code = "«GRU(8, return_sequences=True)»; «Dense(1)»"
    assert first(code, lambda *spans: last_step_only(reversed(spans))) == "GRU(8, return_sequences=False); Dense(1)"
    assert rewritten("«Dense(1)»", lambda span: last_step_only([span])) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g = «tape.gradient(loss, table[2])»", "g = tape.gradient(loss, table)[2]"),
        (
            "y = f(x)\nloss = net(f(x))\ng = «tape.gradient(loss, y)»",
            "y = f(x)\nloss = net(y)\ng = tape.gradient(loss, y)",
        ),
        (
            "w = net.get_weights()\ng = «tape.gradient(loss, w)»",
            "w = net.trainable_variables\ng = tape.gradient(loss, w)",
        ),
    ],
)
def test_the_thing_itself_is_asked_for(before: str, after: str) -> None:
    assert first(before, right_source) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "«tf.image.adjust_contrast(x, 0.8)»",
            "(x - tf.reduce_mean(x, axis=[-3, -2], keepdims=True)) * 0.8 + "
            "tf.reduce_mean(x, axis=[-3, -2], keepdims=True)",
        ),
        (
            '«tf.image.resize(x, (8, 8), method="area")»',
            'tf.image.resize(x, (8, 8), method="bilinear", antialias=True)',
        ),
        ("«tf.math.bincount(i, weights=w, minlength=4)»", "tf.math.unsorted_segment_sum(w, i, 4)"),
    ],
)
def test_an_op_without_a_gradient_is_written_in_another_way(before: str, after: str) -> None:
    assert first(HEAD + before, with_gradient) == HEAD + after
    assert rewritten(HEAD + "«tf.image.random_hue(x, 0.2)»", with_gradient) == []


def test_what_a_function_makes_each_time_is_made_before_it() -> None:
    code = "@tf.function\ndef step(x):\n    net = «make()»\n    return net(x)\n"
    assert first(code, made_once) == "net = make()\n@tf.function\ndef step(x):\n    return net(x)\n"
    maker = "def make():\n    return «Dense(3)»\n\ndef step(x):\n    net = make()\n    return net(x)\n"
    assert "net = make()\ndef step(x):\n    return net(x)" in first(maker, made_once)
    assert rewritten("def step(x):\n    v = «Variable(x)»\n    return v\n", made_once) == []
    assert rewritten("for rate in rates:\n    «model.compile(SGD(rate))»\n", made_once) == []


def test_an_object_that_a_function_makes_each_time_is_made_before_it() -> None:
    code = "def step(g):\n    opt = Adam()\n    «opt.apply(g)»\n"
    assert first(code, owner_made_once) == "opt = Adam()\ndef step(g):\n    opt.apply(g)\n"


def test_labels_are_compared_with_the_result_that_nobody_took() -> None:
    code = "logits = «net(x)»\nloss = mean(«ce(tags, {})»)\n"
    assert first(code.format("tags"), lambda result, loss: compared_with(loss, result)) == (
        "logits = net(x)\nloss = mean(ce(tags, logits))\n"
    )
    assert rewritten(code.format("other"), lambda result, loss: compared_with(loss, result)) == []
    ones = "def loss(fake):\n    return «ce(tf.ones_like(fake), tf.ones_like(fake))»\nout = «net(z)»\n"
    assert "return ce(tf.ones_like(fake), fake)" in first(ones, compared_with)
    apart = "def f():\n    y = «net(x)»\n\ndef g():\n    return «ce(tags, tags)»\n"
    assert rewritten(apart, lambda result, loss: compared_with(loss, result)) == []


def test_a_mask_that_keeps_nothing_is_turned_round() -> None:
    assert first("m = «tf.cast(y < 0.0, t)»", turned_round) == "m = tf.cast(y >= 0.0, t)"
    assert first("m = tf.cast(«tf.equal(y, 0)», t)", turned_round) == "m = tf.cast(tf.not_equal(y, 0), t)"
    assert rewritten("m = «(a < b) & (b < c)»", turned_round) == []


def test_an_optimizer_is_built_before_the_function_that_is_traced() -> None:
    code = "@tf.function\ndef step(x):\n    «opt.apply(zip(grads, net.weights))»\n"
    assert first(code, built_before) == f"opt.build(net.weights)\n{code.replace('«', '').replace('»', '')}"
    assert rewritten("def step(net):\n    «opt.apply(zip(grads, net.weights))»\n", built_before) == []


def test_what_is_watched_keeps_a_name_of_its_own() -> None:
    code = "with Tape() as tape:\n    «tape.watch(x)»\n    x = f(x)\ng = «tape.gradient(x, [x])»\n"
    assert first(code, watched_itself, "x") == (
        "with Tape() as tape:\n    tape.watch(x)\n    watched_x = x\n    x = f(x)\ng = tape.gradient(x, [watched_x])\n"
    )


def test_a_softmax_is_taken_over_the_axis_that_has_choices() -> None:
    assert first(HEAD + "w = «tf.nn.softmax(s)»", lone_softmax, axis=1) == HEAD + "w = tf.nn.softmax(s, axis=1)"
    assert (
        first(HEAD + "w = «tf.nn.softmax(s, axis=-1)»", lone_softmax, axis=1) == HEAD + "w = tf.nn.softmax(s, axis=1)"
    )
    assert first(HEAD + "w = «tf.nn.softmax(s)»", lone_softmax) == HEAD + "w = tf.sigmoid(s)"


def test_a_quotient_of_exponentials_keeps_its_value() -> None:
    code = "w = «tf.exp(s)»\nw = w / tf.reduce_sum(w, axis=-1, keepdims=True)\n"
    assert first(HEAD + code, exponential) == HEAD + code.replace("«tf.exp(s)»", f"tf.exp(s - {LARGEST})")
    assert "tf.minimum(s, 20.0)" in first(HEAD + "w = «tf.exp(s)»\nv = w / tf.reduce_sum(s)\n", exponential)


def test_an_optimizer_is_built_for_the_variables_of_all_updates() -> None:
    code = "«opt.apply_gradients(zip(ga, a.weights))»\n«opt.apply_gradients(zip(gb, b.weights))»\n"
    changed = first(code, lambda one, other: built_for_all([one], other))
    assert changed.startswith("opt.build(a.weights + b.weights)\nopt.apply_gradients(zip(ga, a.weights))\n")
