"""`Monitor` around training steps that are not the usual one: several optimizers, clipping, scaling, branches."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from networks import X, compiled, train
from whygrad.store import Run

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def monitor(tf: ModuleType, tmp_path: Path) -> Any:
    from whygrad.training.monitor.monitor import Monitor

    return Monitor("test", folder=tmp_path)


def recorded(monitor: Any) -> Run:
    assert monitor.run is not None
    return monitor.run  # type: ignore[no-any-return]


def gan(tf: ModuleType, keras: ModuleType, critic_steps: int) -> Any:
    class Gan(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(6)], name="generator")
            self.critic = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)], name="critic")

        def compile(self, g_optimizer: Any, d_optimizer: Any, **options: Any) -> None:
            super().compile(**options)
            self.g_optimizer, self.d_optimizer = g_optimizer, d_optimizer

        def train_step(self, data: Any) -> dict[str, Any]:
            for _ in range(critic_steps):
                noise = tf.random.normal([tf.shape(data)[0], 2])
                with tf.GradientTape() as tape:
                    d_loss = tf.reduce_mean(self.critic(self.generator(noise))) - tf.reduce_mean(self.critic(data))
                self._apply(self.d_optimizer, tape, d_loss, self.critic)
            with tf.GradientTape() as tape:
                g_loss = -tf.reduce_mean(self.critic(self.generator(noise)))
            self._apply(self.g_optimizer, tape, g_loss, self.generator)
            return {"d_loss": d_loss, "g_loss": g_loss}

        def _apply(self, optimizer: Any, tape: Any, loss: Any, part: Any) -> None:
            gradients = tape.gradient(loss, part.trainable_variables)
            optimizer.apply_gradients(zip(gradients, part.trainable_variables, strict=True))

    keras.utils.set_random_seed(5)
    model = Gan()
    model.built = True
    model.compile(keras.optimizers.Adam(0.01), keras.optimizers.SGD(0.02), jit_compile=False)
    return model


def test_each_optimizer_of_a_gan_has_a_track_of_its_own(tf: ModuleType, keras: ModuleType, monitor: Any) -> None:
    gan(tf, keras, critic_steps=3).fit(X, batch_size=8, epochs=2, verbose=0, callbacks=[monitor])

    run = recorded(monitor)
    assert {track.name for track in run.tracks()} == {"d_optimizer", "g_optimizer"}
    critic, generator = run.scalars("d_optimizer"), run.scalars("g_optimizer")
    assert critic.steps.tolist() == list(range(30))
    assert critic.scalars["batch"].tolist() == [batch for batch in range(10) for _ in range(3)]
    assert generator.steps.tolist() == list(range(10))
    np.testing.assert_allclose(generator.scalars["loss"], generator.scalars["metrics/g_loss"], rtol=1e-6)
    np.testing.assert_allclose(critic.scalars["loss"][2::3], generator.scalars["metrics/d_loss"], rtol=1e-6)
    assert critic.scalars["learning_rate"].tolist() == pytest.approx([0.02] * 30)
    assert {info.model for track, info in run.variables() if track == "g_optimizer"} == {"generator"}


def test_clipping_by_hand_is_seen_before_and_after(tf: ModuleType, keras: ModuleType, monitor: Any) -> None:
    class Clipping(keras.Sequential):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            clipped, norm = tf.clip_by_global_norm(gradients, 0.05)
            self.optimizer.apply_gradients(zip(clipped, self.trainable_variables, strict=True))
            return {"loss": loss, "norm": norm}

    keras.utils.set_random_seed(5)
    model = compiled(keras, Clipping([keras.Input((6,)), keras.layers.Dense(3)]), "sgd")
    train(model, callbacks=[monitor])

    run = recorded(monitor)
    series = [run.series(info.name).channels for _, info in run.variables()]
    total, applied = (np.sqrt(sum(s[name] ** 2 for s in series)) for name in ("norm", "applied_norm"))
    np.testing.assert_allclose(total, run.scalars(run.tracks()[0].name).scalars["metrics/norm"], rtol=1e-5)
    np.testing.assert_allclose(applied, np.minimum(total, 0.05), rtol=1e-5)


@pytest.mark.parametrize("flavour", ["keras", "tf_keras"])
def test_scaled_gradients_are_recorded_unscaled(
    tf: ModuleType, request: pytest.FixtureRequest, tmp_path: Path, flavour: str
) -> None:
    from whygrad.training.monitor.monitor import Monitor

    keras = request.getfixturevalue(flavour)
    runs = []
    for policy in ("float32", "mixed_float16"):
        keras.mixed_precision.set_global_policy(policy)
        try:
            keras.utils.set_random_seed(3)
            layers = [keras.Input((6,)), keras.layers.Dense(16, activation="relu")]
            head = keras.layers.Dense(3, dtype="float32")
            model = compiled(keras, keras.Sequential([*layers, head]), keras.optimizers.SGD(1e-4, clipnorm=0.1))
            monitor = Monitor(folder=tmp_path)
            train(model, callbacks=[monitor])
            runs.append(recorded(monitor))
        finally:
            keras.mixed_precision.set_global_policy("float32")

    plain, mixed = ([run.series(info.name).channels for _, info in run.variables()] for run in runs)
    for one, other in zip(plain, mixed, strict=True):
        for channel in ("norm", "maximum", "applied_norm"):
            np.testing.assert_allclose(one[channel], other[channel], rtol=0.02, atol=1e-4)
    scalars = [run.scalars(run.tracks()[0].name).scalars for run in runs]
    np.testing.assert_allclose(scalars[0]["loss"], scalars[1]["loss"], rtol=0.01)
    assert (scalars[1]["loss_scale"] > 1).all()
    assert np.isnan(scalars[0]["loss_scale"]).all()


def test_a_step_that_loss_scaling_skips_shows_why(tf: ModuleType, keras: ModuleType, monitor: Any) -> None:
    x = X.copy()
    x[8] = 1e5  # beyond float16
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)])
        compiled(keras, model, keras.optimizers.SGD(1e-3, clipnorm=0.1))
        train(model, x=x, epochs=1, callbacks=[monitor])
    finally:
        keras.mixed_precision.set_global_policy("float32")

    run = recorded(monitor)
    kernel = run.series(run.variables()[0][1].name).channels
    assert kernel["nonfinite"][1] > 0
    assert np.isnan(kernel["applied_norm"][1])  # never applied
    assert kernel["update_norm"][1] == 0
    assert np.isfinite(kernel["applied_norm"][[0, 2, 3, 4]]).all()
    assert (kernel["update_norm"][[0, 2, 3, 4]] > 0).all()


def test_an_optimizer_in_a_branch_is_recorded_when_the_branch_is_taken(
    tf: ModuleType, keras: ModuleType, monitor: Any
) -> None:
    class Sometimes(keras.Sequential):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            self.count.assign_add(1)
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)

            def update() -> Any:
                self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
                return True

            tf.cond(self.count % 2 == 1, update, lambda: False)
            return {"loss": loss}

    keras.utils.set_random_seed(5)
    model = Sometimes([keras.Input((6,)), keras.layers.Dense(3)])
    model.count = tf.Variable(0, trainable=False)
    compiled(keras, model, "sgd")
    model.optimizer.build(model.trainable_variables)
    train(model, epochs=1, callbacks=[monitor])

    run = recorded(monitor)
    kernel = run.series(run.variables()[0][1].name).channels
    assert np.isfinite(kernel["norm"]).tolist() == [True, False, True, False, True]
    assert (kernel["update_norm"][[0, 2, 4]] > 0).all()
