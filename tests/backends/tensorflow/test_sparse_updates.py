"""Optimizers that are given sparse gradients with repeated rows, in every way a step can run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whygrad.graph.event import VariableStep
from whygrad.rules.odd_gradient.duplicate_sparse_rows import is_misread
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow
WAYS = ["eager", "function", "xla", "fit", "fit with XLA"]


def train(tf: Any, keras: Any, optimizer: Any, how: str, words: Any) -> Any:
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([layers.Embedding(20, 3), layers.GlobalAveragePooling1D(), layers.Dense(1)])
    model.build((None, words.shape[1]))
    target = words.sum(1, keepdims=True).astype("float32")
    if how.startswith("fit"):
        model.compile(optimizer, "mse", jit_compile="XLA" in how)
        model.fit(words, target, epochs=3, batch_size=len(words), verbose=0)
        return model

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(words) - target) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    run = step if how == "eager" else tf.function(step, jit_compile=how == "xla")
    for _ in range(3):
        run()
    return model


def misread(tf: Any, keras: Any, optimizer: Any, how: str, words: Any) -> tuple[list[VariableStep], list[Any]]:
    with watch() as run:
        model = train(tf, keras, optimizer, how, words)
        recording = run.recording()
    found = [step for step in recording.events_of(VariableStep) if is_misread(step)]
    return found, [variable.numpy() for variable in model.trainable_variables]


REPEATED = np.array([[1, 1, 2, 3], [4, 1, 5, 5]])
ONCE = np.arange(8).reshape(2, 4)


@pytest.mark.parametrize("how", WAYS)
def test_adam_is_told_to_misread_repeated_rows_and_its_training_is_left_alone(tf: Any, keras: Any, how: str) -> None:
    (found,), watched = misread(tf, keras, keras.optimizers.Adam(0.1), how, REPEATED)

    assert (found.optimizer, found.rows, found.repeated) == ("Adam", 5, 2)
    assert found.difference > 0.1
    bare = [variable.numpy() for variable in train(tf, keras, keras.optimizers.Adam(0.1), how, REPEATED).weights]
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(watched, bare, strict=True))


@pytest.mark.parametrize("how", WAYS)
def test_rows_that_occur_once_are_no_matter(tf: Any, keras: Any, how: str) -> None:
    assert misread(tf, keras, keras.optimizers.Adam(0.1), how, ONCE)[0] == []


@pytest.mark.parametrize("how", ["eager", "fit"])
def test_optimizers_that_add_up_repetitions_are_not_named(tf: Any, keras: Any, how: str) -> None:
    from whygrad.training.deduplicate import deduplicate

    for optimizer in (keras.optimizers.SGD(0.1, momentum=0.9), deduplicate(keras.optimizers.Adam(0.1))):
        assert misread(tf, keras, optimizer, how, REPEATED)[0] == []


def test_an_optimizer_that_its_settings_cannot_make_again_is_passed_over(tf: Any, keras: Any) -> None:
    class Own(keras.optimizers.Adam):  # type: ignore[misc]
        def __init__(self, secret: int) -> None:
            super().__init__(0.1)
            self.secret = secret

    assert misread(tf, keras, Own(7), "eager", REPEATED)[0] == []


def test_tables_too_wide_for_a_sample_are_passed_over(tf: Any, keras: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whygrad.backends.tensorflow.numbers.sparse_updates._MOST_NUMBERS", 9)
    assert misread(tf, keras, keras.optimizers.Adam(0.1), "eager", REPEATED)[0] == []
