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


def same_bits(make: Callable[[], Any], tmp_path: Path, *ways: dict[str, Any], x: Any = X) -> None:
    """Train once without a monitor, then once with each of these ways to record."""
    from whygrad.training.monitor.monitor import Monitor

    bare = make()
    train(bare, x=x)
    for way in ways or ({},):
        watched, monitor = make(), Monitor(folder=tmp_path, **way)
        train(watched, x=x, callbacks=[monitor])

        assert state(watched) == state(bare), way
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
    """With attention behind it in one case: what lies behind a table does not change how it is updated."""

    def small(keras: ModuleType, optimizer: Any) -> Any:
        keras.utils.set_random_seed(7)
        entry, table = keras.Input((5,), dtype="int32"), keras.layers.Embedding(20, 8)
        x = keras.layers.Flatten()(table(entry) + keras.ops.flip(table(entry), 1))
        return compiled(keras, keras.Model(entry, keras.layers.Dense(3)(x)), optimizer)

    def make() -> Any:
        options = dict(SETTINGS[setting])
        optimizer = getattr(keras.optimizers, options.pop("optimizer", "Adam"))
        return (attending if setting == "plain" else small)(keras, optimizer(0.01, **options))

    same_bits(make, tmp_path, {"histograms": 2}, x=WORDS)


@pytest.mark.parametrize(
    "options",
    [{"steps_per_execution": 3}, {"run_eagerly": True}, {"metrics": ["accuracy"]}],
    ids=["several steps at once", "eagerly", "metrics"],
)
def test_with_any_way_to_run(tf: ModuleType, keras: ModuleType, tmp_path: Path, options: dict[str, Any]) -> None:
    same_bits(lambda: dense(keras, "adam", **options), tmp_path)


def test_with_any_way_to_record(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    ways = ({"every": 3}, {"closely_every": 1}, {"progress": True}, {"histograms": 3}, {"every": 2, "histograms": 1})
    same_bits(lambda: dense(keras, "adam"), tmp_path, *ways)


def test_with_convolutions(tf: ModuleType, keras: ModuleType, tmp_path: Path) -> None:
    same_bits(lambda: convolutional(keras, "adam"), tmp_path, {"histograms": 2}, x=IMAGES)


# Each pair of network and optimizer, and each of these with and without histograms: XLA fuses across neighbours.
@pytest.mark.parametrize(
    ("network", "x", "optimizer", "histograms"),
    [
        (dense, X, "Adam", [False]),
        (dense, X, "SGD", [2]),
        (convolutional, IMAGES, "Adam", [2]),
        (convolutional, IMAGES, "SGD", [False]),
        (attending, WORDS, "Adam", [False, 2]),
    ],
)
@pytest.mark.slow
def test_compiled_by_xla(
    tf: ModuleType, keras: ModuleType, tmp_path: Path, network: Any, x: Any, optimizer: str, histograms: list[Any]
) -> None:
    def make() -> Any:
        return network(keras, getattr(keras.optimizers, optimizer)(0.01, clipnorm=1.0), jit_compile=True)

    same_bits(make, tmp_path, *({"histograms": each} for each in histograms), x=x)


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

    same_bits(make, tmp_path, x=IMAGES)


@pytest.mark.parametrize("optimizer", ["Adam", "SGD", "legacy.Adam", "legacy.SGD"])
def test_in_keras_2(tf: ModuleType, tf_keras: ModuleType, tmp_path: Path, optimizer: str) -> None:
    import operator

    kind = operator.attrgetter(optimizer)(tf_keras.optimizers)
    same_bits(lambda: dense(tf_keras, kind(0.01, clipnorm=0.1)), tmp_path, {"histograms": 2})


@pytest.mark.parametrize("flavour", ["keras", "tf_keras"])
def test_in_mixed_precision(tf: ModuleType, request: pytest.FixtureRequest, tmp_path: Path, flavour: str) -> None:
    keras = request.getfixturevalue(flavour)
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        same_bits(lambda: dense(keras, keras.optimizers.Adam(0.01, clipnorm=0.5)), tmp_path, {"histograms": 2})
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
