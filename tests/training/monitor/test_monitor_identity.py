"""A training under `Monitor` is bit for bit the training without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from networks import IMAGES, WORDS, X, attending, compiled, convolutional, dense, state, train

pytestmark = pytest.mark.tensorflow


def same_bits(make: Callable[[], Any], tmp_path: Path, x: Any = X, **monitor_options: Any) -> None:
    from whygrad.training.monitor.monitor import Monitor

    bare, watched = make(), make()
    train(bare, x=x)
    monitor = Monitor(folder=tmp_path, **monitor_options)
    train(watched, x=x, callbacks=[monitor])

    assert state(watched) == state(bare)
    assert monitor.run is not None
    assert monitor.run.last_step() is not None  # it did record


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "momentum": {"optimizer": "SGD", "momentum": 0.9, "nesterov": True},
    "clipnorm": {"clipnorm": 0.1},
    "global clipnorm": {"global_clipnorm": 0.1},
    "clipvalue": {"clipvalue": 0.001},
    "decay and average": {"weight_decay": 0.01, "use_ema": True, "ema_overwrite_frequency": 3},
    "accumulation": {"gradient_accumulation_steps": 2},
    "rmsprop": {"optimizer": "RMSprop", "centered": True},
    "ftrl": {"optimizer": "Ftrl"},
    "lion": {"optimizer": "Lion"},
    "amsgrad": {"amsgrad": True},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_with_any_optimizer(tf: ModuleType, keras: ModuleType, tmp_path: Path, setting: str) -> None:
    def make() -> Any:
        options = dict(SETTINGS[setting])
        optimizer = getattr(keras.optimizers, options.pop("optimizer", "Adam"))
        return dense(keras, optimizer(0.01, **options))

    same_bits(make, tmp_path)


@pytest.mark.parametrize("setting", ["plain", "momentum", "clipnorm", "ftrl"])
def test_with_a_table_that_is_used_twice(tf: ModuleType, keras: ModuleType, tmp_path: Path, setting: str) -> None:
    def make() -> Any:
        options = dict(SETTINGS[setting])
        optimizer = getattr(keras.optimizers, options.pop("optimizer", "Adam"))
        return attending(keras, optimizer(0.01, **options))

    same_bits(make, tmp_path, WORDS, histograms=2)


@pytest.mark.parametrize(
    "options",
    [{"steps_per_execution": 3}, {"run_eagerly": True}, {"metrics": ["accuracy"]}],
    ids=["several steps at once", "eagerly", "metrics"],
)
def test_with_any_way_to_run(tf: ModuleType, keras: ModuleType, tmp_path: Path, options: dict[str, Any]) -> None:
    same_bits(lambda: dense(keras, "adam", **options), tmp_path)


@pytest.mark.parametrize(
    "options",
    [{"every": 3}, {"closely_every": 1}, {"progress": True}, {"histograms": 3}, {"every": 2, "histograms": 1}],
)
def test_with_any_way_to_record(tf: ModuleType, keras: ModuleType, tmp_path: Path, options: dict[str, Any]) -> None:
    same_bits(lambda: dense(keras, "adam"), tmp_path, **options)


def test_with_convolutions(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    same_bits(lambda: convolutional(keras, "adam"), tmp_path, IMAGES, histograms=2)


@pytest.mark.parametrize(
    ("network", "optimizer", "x"),
    [
        (dense, "Adam", X),
        (dense, "SGD", X),
        (convolutional, "Adam", IMAGES),
        (convolutional, "SGD", IMAGES),
        (attending, "Adam", WORDS),
    ],
)
@pytest.mark.parametrize("histograms", [False, 2])
@pytest.mark.slow
def test_compiled_by_xla(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, network: Any, optimizer: str, x: Any, histograms: int | bool
) -> None:
    def make() -> Any:
        return network(keras, getattr(keras.optimizers, optimizer)(0.01, clipnorm=1.0), jit_compile=True)

    same_bits(make, tmp_path, x, histograms=histograms)


@pytest.mark.slow
def test_compiled_by_xla_with_clipping_inside_a_branch(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    options = {"gradient_accumulation_steps": 2, "global_clipnorm": 0.5}
    same_bits(lambda: dense(keras, keras.optimizers.Adam(0.01, **options), jit_compile=True), tmp_path)


@pytest.mark.slow
def test_compiled_by_xla_without_activations_between_convolutions(
    tf: ModuleType, keras: ModuleType, tmp_path: Path
) -> None:
    def make() -> Any:
        keras.utils.set_random_seed(1)
        layers = keras.layers
        stack = [layers.Conv2D(8, 3, padding="same"), layers.Conv2D(8, 3, padding="same", use_bias=False)]
        model = keras.Sequential([keras.Input((8, 8, 3)), *stack, layers.GlobalAveragePooling2D(), layers.Dense(3)])
        return compiled(keras, model, keras.optimizers.Adadelta(0.01, clipnorm=0.1), jit_compile=True)

    same_bits(make, tmp_path, IMAGES)


@pytest.mark.parametrize("optimizer", ["Adam", "SGD", "legacy.Adam", "legacy.SGD"])
def test_in_keras_2(tf: ModuleType, tf_keras: ModuleType, tmp_path: Path, optimizer: str) -> None:
    import operator

    kind = operator.attrgetter(optimizer)(tf_keras.optimizers)
    same_bits(lambda: dense(tf_keras, kind(0.01, clipnorm=0.1)), tmp_path, histograms=2)


@pytest.mark.parametrize("flavour", ["keras", "tf_keras"])
def test_in_mixed_precision(tf: ModuleType, request: pytest.FixtureRequest, tmp_path: Path, flavour: str) -> None:
    keras = request.getfixturevalue(flavour)
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        same_bits(lambda: dense(keras, keras.optimizers.Adam(0.01, clipnorm=0.5)), tmp_path, histograms=2)
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_random_numbers_of_the_program_stay_the_same(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    """Also those that are drawn between the updates of a step, and after the training."""
    from whygrad.training.monitor.monitor import Monitor

    class Noisy(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = keras.layers.Dense(4), keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.two(tf.nn.relu(self.one(x)))

        def train_step(self, data: Any) -> Any:
            x, y = data
            for layer in (self.one, self.two):
                with tf.GradientTape() as tape:
                    logits = self(x + tf.random.normal(tf.shape(x)))
                    loss = self.compute_loss(x=x, y=y, y_pred=logits)
                variables = layer.trainable_variables
                self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    def run(callbacks: list[Any]) -> tuple[list[bytes], list[Any]]:
        keras.utils.set_random_seed(11)
        model = Noisy()
        model(X[:1])
        compiled(keras, model, "sgd")
        model.optimizer.build(model.trainable_variables)
        train(model, callbacks=callbacks)
        import random

        return state(model), [tf.random.normal([3]).numpy().tolist(), np.random.rand(), random.random()]

    assert run([]) == run([Monitor(folder=tmp_path)])
