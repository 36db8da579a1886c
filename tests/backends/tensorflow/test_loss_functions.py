"""The frameworks' own loss functions, called the right way round and the wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

LOSSES = {
    "keras categorical": lambda tf, keras: keras.losses.categorical_crossentropy,
    "keras binary": lambda tf, keras: keras.losses.binary_crossentropy,
    "sigmoid": lambda tf, keras: lambda labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(labels, logits),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("swapped", [True, False])
def test_exchanged_arguments_are_told_from_the_right_ones(tf: Any, keras: Any, name: str, swapped: bool) -> None:
    loss_function = LOSSES[name](tf, keras)
    with watch() as run:
        w = tf.Variable([[0.5, -0.5]])
        labels = tf.constant([[1.0, 0.0]] * 4)
        with tf.GradientTape() as tape:
            prediction = tf.nn.softmax(tf.ones((4, 1)) @ w)
            pair = (prediction, labels) if swapped else (labels, prediction)
            loss = tf.reduce_mean(loss_function(*pair))
        tape.gradient(loss, w)
        report = run.report()

    assert ("loss-arguments-swapped" in {each.rule for each in report.diagnostics}) is swapped
