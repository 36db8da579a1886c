"""Training that is interrupted in the middle of a window and resumed equals training that was not."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keras_pair import Kit, updates_of, weights
from whygrad.errors import AccumulationError

pytestmark = pytest.mark.tensorflow

Resume = Callable[[Any, Path, Callable[[], Any], Any], Any]


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 50, size=(40, 3)), rng.normal(size=(40, 2))


def build(kit: Kit, *, rows: int, jit: bool = False, scaled: bool = False) -> Any:
    from whygrad.training.accumulation.accumulate import accumulate

    start = kit.keras.initializers.RandomNormal(seed=1)
    table = kit.keras.layers.Embedding(rows, 4, embeddings_initializer=start)
    model = kit.model(table, kit.keras.layers.Flatten(), kit.dense(2), inputs=(3,))
    schedule = kit.keras.optimizers.schedules.ExponentialDecay(0.05, 1, 0.8)
    inner = kit.keras.optimizers.Adam(schedule)
    optimizer = accumulate(kit.loss_scaled(inner) if scaled else inner, 4, partial="carry")
    model.compile(optimizer, loss="mse", jit_compile=jit)
    return model


def steps(model: Any, start: int, end: int) -> None:
    x, y = data()
    for i in range(start, end):
        size = 4 if i % 2 or model.jit_compile else 3  # uneven, so that weights matter; XLA compiles for each size
        model.train_on_batch(x[4 * i : 4 * i + size], y[4 * i : 4 * i + size])


def by_keras_file(tf: Any, kit: Kit, folder: Path, fresh: Callable[[], Any], model: Any) -> Any:
    model.save(folder / "model.keras")
    return kit.keras.models.load_model(folder / "model.keras")


def by_weights_file(tf: Any, kit: Kit, folder: Path, fresh: Callable[[], Any], model: Any) -> Any:
    model.save_weights(folder / "model.weights.h5")
    other = fresh()
    other.optimizer.build(other.trainable_variables)
    other.load_weights(folder / "model.weights.h5")
    return other


def by_checkpoint_before_training(tf: Any, kit: Kit, folder: Path, fresh: Callable[[], Any], model: Any) -> Any:
    path = tf.train.Checkpoint(model=model).save(folder / "checkpoint")
    other = fresh()
    tf.train.Checkpoint(model=other).restore(path)
    return other


def by_checkpoint_into_a_running_model(tf: Any, kit: Kit, folder: Path, fresh: Callable[[], Any], model: Any) -> Any:
    path = tf.train.Checkpoint(optimizer=model.optimizer, model=model).save(folder / "checkpoint")
    other = fresh()
    steps(other, 8, 9)
    status = tf.train.Checkpoint(optimizer=other.optimizer, model=other).restore(path)
    status.assert_existing_objects_matched()
    return other


WAYS = [by_keras_file, by_weights_file, by_checkpoint_before_training, by_checkpoint_into_a_running_model]
KERASES = ["keras", "tf_keras"]
KINDS = {
    "few rows touched": {"rows": 1000},
    "many rows touched": {"rows": 50},
    "jit_compile": {"rows": 50, "jit": True},
    "loss scale": {"rows": 50, "scaled": True},
}


@pytest.fixture(scope="module")
def half_trained() -> Callable[[Kit, str], tuple[Any, Any]]:
    """A training that went through, and one that stops in mid-window: trained once, resumed in every way."""

    @functools.cache
    def once(kit: Kit, kind: str) -> tuple[Any, Any]:
        through, before = build(kit, **KINDS[kind]), build(kit, **KINDS[kind])
        steps(through, 0, 10)
        steps(before, 0, 6)
        return through, before

    return once


# Each way with each kind of sums, the Kerases in turn, so that each has every way and every kind; what XLA compiled is
# stored as the rest is, so for it one way in both Kerases.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kit", "resume", "kind"),
    [
        (KERASES[(w + k) % 2], way, kind)
        for w, way in enumerate(WAYS)
        for k, kind in enumerate(["few rows touched", "many rows touched", "loss scale"])
    ]
    + [(name, by_keras_file, "jit_compile") for name in KERASES],
    indirect=["kit"],
)
def test_a_half_full_window_goes_on_where_it_was(
    tf: Any, kit: Kit, half_trained: Any, tmp_path: Path, resume: Any, kind: str
) -> None:
    through, before = half_trained(kit, kind)
    assert before.optimizer.microbatches == 2

    after = resume(tf, kit, tmp_path, lambda: build(kit, **KINDS[kind]), before)
    assert after.optimizer.microbatches == 2 or resume is by_checkpoint_before_training  # that one fills in as it goes
    steps(after, 6, 10)

    assert all(np.array_equal(a, b) for a, b in zip(weights(after), weights(through), strict=True))
    assert updates_of(after.optimizer) == updates_of(through.optimizer) == 2
    assert after.optimizer.microbatches == through.optimizer.microbatches == 2


def test_the_settings_come_back_with_the_model(kit: Kit, tmp_path: Path) -> None:
    model = build(kit, rows=50, scaled=True)
    steps(model, 0, 1)

    model.save(tmp_path / "model.keras")
    loaded = kit.keras.models.load_model(tmp_path / "model.keras")

    assert loaded.optimizer.settings == model.optimizer.settings
    assert type(loaded.optimizer) is type(model.optimizer)


def test_a_weight_function_comes_back_with_the_model(tf: Any, kit: Kit, tmp_path: Path) -> None:
    from whygrad.training.accumulation.accumulate import accumulate

    @kit.keras.saving.register_keras_serializable(package="test")
    def tokens(x: Any, y: Any, sample_weight: Any) -> Any:
        return tf.math.count_nonzero(x)

    model = kit.model(kit.dense(2))
    model.compile(accumulate(kit.keras.optimizers.SGD(), 2, weight=tokens), loss="mse")
    model.train_on_batch(np.ones((4, 3)), np.ones((4, 2)))
    model.save(tmp_path / "model.keras")

    assert kit.keras.models.load_model(tmp_path / "model.keras").optimizer.settings.weight is tokens


def test_an_empty_window_adds_no_copy_of_the_gradients_to_the_file(kit: Kit, tmp_path: Path) -> None:
    model = build(kit, rows=5000, jit=True)
    steps(model, 0, 4)
    model.save(tmp_path / "empty.keras")
    steps(model, 4, 5)
    model.save(tmp_path / "filled.keras")

    table = 5000 * 4 * 8
    growth = (tmp_path / "filled.keras").stat().st_size - (tmp_path / "empty.keras").stat().st_size
    assert 0 < growth < table  # the touched rows of the table, not all of it


def test_a_saved_model_loads_in_a_process_that_has_only_imported_accumulate(keras: Any, tmp_path: Path) -> None:
    kit = Kit(keras, old=False)
    model = build(kit, rows=50)
    steps(model, 0, 2)
    model.save(tmp_path / "model.keras")
    program = (
        "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n"
        "import keras\n"
        "from whygrad.training.accumulation import accumulate\n"
        f"model = keras.models.load_model({str(tmp_path / 'model.keras')!r})\n"
        "print('microbatches', model.optimizer.microbatches)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert "microbatches 2" in done.stdout, done.stderr


def test_a_legacy_optimizer_of_tf_keras_goes_on_too(tf_keras: Any, tmp_path: Path) -> None:
    from whygrad.training.accumulation.accumulate import accumulate

    kit = Kit(tf_keras, old=True)
    x, y = np.random.default_rng(0).normal(size=(4, 3)), np.ones((4, 2))
    model = kit.model(kit.dense(2))
    model.compile(accumulate(tf_keras.optimizers.legacy.Adam(0.1), 2), loss="mse")
    for _ in range(3):
        model.train_on_batch(x, y)
    model.save(tmp_path / "model.keras")
    loaded = tf_keras.models.load_model(tmp_path / "model.keras")
    for each in (model, loaded):
        each.train_on_batch(x, y)

    assert all(np.array_equal(a, b) for a, b in zip(weights(loaded), weights(model), strict=True))
    assert int(loaded.optimizer.iterations.numpy()) == 2


def test_an_accumulator_is_saved_half_full(tf: Any, keras: Any, tmp_path: Path) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    def gradient(i: int) -> Any:
        return [tf.constant([float(i + 1)])]

    v, w = tf.Variable([0.0]), tf.Variable([0.0])
    first, second = Accumulator(steps=3), Accumulator(steps=3)
    for i in range(2):
        first.add(gradient(i), [v], weight=i + 1)
    path = tf.train.Checkpoint(accumulator=first).save(tmp_path / "checkpoint")

    tf.train.Checkpoint(accumulator=second).restore(path)
    second.add(gradient(2), [w], weight=3)
    assert second.ready
    second.apply(keras.optimizers.SGD(1.0))

    assert w.numpy()[0] == pytest.approx(-(1 * 1 + 2 * 2 + 3 * 3) / 6)


def test_a_window_saved_with_other_variables_is_refused(tf: Any, tmp_path: Path) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    a, b = tf.Variable([0.0]), tf.Variable([0.0])
    first, second = Accumulator(), Accumulator()
    first.add([tf.ones([1])], [a], weight=1)
    path = tf.train.Checkpoint(accumulator=first).save(tmp_path / "checkpoint")
    tf.train.Checkpoint(accumulator=second).restore(path).expect_partial()

    with pytest.raises(AccumulationError) as caught:
        second.add([tf.ones([1])] * 2, [a, b], weight=1)

    assert str(caught.value).startswith("the half-full window that was restored does not fit these 2 variables: ")
    assert str(caught.value).endswith(
        "\nhelp: restore it into the model and the kind of training step that it was saved from"
    )


def test_a_window_saved_by_another_kind_of_step_is_refused(tf: Any, tmp_path: Path) -> None:
    """Sums kept by row do not fit where a dense sum is kept; going on would lose them without a word."""
    from whygrad.training.accumulation.accumulator import Accumulator

    table = tf.Variable(tf.zeros([1000, 2]))
    first, second = Accumulator(), Accumulator()
    first.add([tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), tf.constant([1000, 2]))], [table], weight=1)
    path = tf.train.Checkpoint(accumulator=first).save(tmp_path / "checkpoint")
    status = tf.train.Checkpoint(accumulator=second).restore(path)
    status.expect_partial()

    with pytest.raises(AccumulationError) as caught:
        second.add([tf.ones([1000, 2])], [table], weight=1)

    assert str(caught.value) == (
        "the half-full window that was restored has no sums for 1 of 1 variables\n"
        "help: restore it into the model and the kind of training step that it was saved from"
    )
