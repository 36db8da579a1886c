"""`deduplicate`, and the comparison that tells who needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_pair import Kit, weights
from training.accumulation.big_batch import dense, distance
from whygrad.errors import UsageError

pytestmark = pytest.mark.tensorflow
ADAPTIVE = ["Adam", "AdamW", "RMSprop", "Adagrad", "Nadam", "Ftrl", "Lamb"]


def class_of(keras: Any, name: str) -> Any:
    if not hasattr(keras.optimizers, name):
        pytest.skip(f"Keras {keras.__version__} has no {name}")
    return getattr(keras.optimizers, name)


def deduplicate(optimizer: Any) -> Any:
    from whygrad.training.deduplicate import deduplicate

    return deduplicate(optimizer)


def compare(optimizer: Any, gradient: Any, variable: Any) -> Any:
    from whygrad.backends.tensorflow.measure.duplicate_rows import compare_repeated_rows

    return compare_repeated_rows(optimizer, gradient, variable)


def sparse(tf: Any, rows: list[int], table: int = 6, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).normal(size=(len(rows), 2)).astype("float32")
    return tf.IndexedSlices(tf.constant(values), tf.constant(rows, tf.int64), tf.constant([table, 2]))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(rows=st.lists(st.integers(0, 5), max_size=12))
def test_summing_repeated_rows_changes_nothing_but_the_repetition(tf: Any, rows: list[int]) -> None:
    from whygrad.backends.tensorflow.measure.sparse_rows import sum_repeated_rows

    gradient = sparse(tf, rows)

    once = sum_repeated_rows(gradient)

    assert once.indices.numpy().tolist() == list(dict.fromkeys(rows))
    assert np.allclose(dense(tf, once).numpy(), dense(tf, gradient).numpy(), atol=1e-6)


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("compiled", [False, True])
def test_the_step_is_that_of_the_dense_gradient(tf: Any, keras: Any, name: str, compiled: bool) -> None:
    tables = [keras.Variable(np.ones((6, 2), "float32")) for _ in range(3)]
    plain, once, full = (class_of(keras, name)(0.1) for _ in range(3))
    once = deduplicate(once)
    for optimizer, table in zip((plain, once, full), tables, strict=True):
        optimizer.build([table])

    def step(gradient: Any) -> None:
        once.apply([gradient], [tables[1]])

    step = tf.function(step) if compiled else step

    for seed in range(3):
        gradient = sparse(tf, [1, 1, 4, 1, 0], seed=seed)
        plain.apply([gradient], [tables[0]])
        step(gradient)
        full.apply([dense(tf, gradient)], [tables[2]])

    start = [np.ones((6, 2))]
    assert distance([tables[1].numpy()], [tables[2].numpy()], start) < 1e-5
    assert distance([tables[0].numpy()], [tables[2].numpy()], start) > 1e-3  # without it, it is not


@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "around a loss scale"])
def test_an_embedding_trains_in_fit_as_with_dense_gradients(kit: Kit, scaled: bool) -> None:
    x = np.array([[1, 1, 1, 2]] * 6)
    y = np.ones((6, 2))

    def model(*, one_hot: bool) -> Any:
        layers = kit.keras.layers
        start = kit.keras.initializers.RandomNormal(seed=1)
        table = layers.Embedding(5, 3, embeddings_initializer=start)
        if not one_hot:
            return kit.model(table, layers.Flatten(), kit.dense(2), inputs=(4,))
        return kit.model(
            kit.dense(3, use_bias=False, kernel_initializer=start), layers.Flatten(), kit.dense(2), inputs=(4, 5)
        )

    def optimizer() -> Any:
        adam = kit.keras.optimizers.Adam(0.1)
        return kit.loss_scaled(adam) if scaled else adam

    dense_twin, ours = model(one_hot=True), model(one_hot=False)
    dense_twin.set_weights(ours.get_weights())
    start = weights(ours)
    dense_twin.compile(optimizer(), loss="mse", jit_compile=False)
    ours.compile(deduplicate(optimizer()), loss="mse", jit_compile=False)
    dense_twin.fit(np.eye(5)[x], y, batch_size=3, shuffle=False, verbose=0)
    ours.fit(x, y, batch_size=3, shuffle=False, verbose=0)

    assert distance(weights(ours), weights(dense_twin), start) <= 1e-6


def test_it_is_saved_with_the_model(kit: Kit, tmp_path: Path) -> None:
    model = kit.model(kit.dense(2))
    model.compile(deduplicate(kit.keras.optimizers.Adam(0.1)), loss="mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)

    model.save(tmp_path / "model.keras")
    loaded = kit.keras.models.load_model(tmp_path / "model.keras")

    assert type(loaded.optimizer) is type(model.optimizer)
    for each in (model, loaded):
        each.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert all(np.array_equal(a, b) for a, b in zip(weights(loaded), weights(model), strict=True))
    assert int(loaded.optimizer.iterations.numpy()) == 2


def test_what_is_no_optimizer(tf: Any) -> None:
    with pytest.raises(UsageError) as caught:
        deduplicate(3)

    assert str(caught.value) == (
        "expected an optimizer, got 3\nhelp: pass an optimizer of Keras 3 or tf_keras, such as keras.optimizers.Adam()"
    )


@pytest.mark.parametrize("name", [*ADAPTIVE, "SGD", "Lion"])
def test_the_comparison_foretells_the_first_step(tf: Any, keras: Any, name: str) -> None:
    others = [keras.Variable(np.ones((3,), "float32")), keras.Variable(np.ones((6, 2), "float32"))]
    table = keras.Variable(np.random.default_rng(5).normal(size=(6, 2)).astype("float32"))
    optimizer = class_of(keras, name)(0.1)
    optimizer.build([*others, table])
    gradient = sparse(tf, [1, 1, 4, 1, 0])
    before = table.numpy().copy()

    found = compare(optimizer, gradient, table)

    assert np.array_equal(table.numpy(), before)
    assert int(optimizer.iterations.numpy()) == 0
    optimizer.apply([tf.ones([3]), tf.ones([6, 2]), gradient], [*others, table])
    if name != "Lamb":  # its norms span the table
        moved = np.linalg.norm((table.numpy() - before)[[0, 1, 4]])
        assert found.taken == pytest.approx(moved, rel=1e-4)
    assert (found.rows, found.repeated) == (3, 1)
    assert (found.difference > 0.01) == (name not in ("SGD", "Lion"))


def test_the_comparison_sees_through_loss_scaling(tf: Any, keras: Any) -> None:
    table = keras.Variable(np.ones((6, 2), "float32"))
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.1), initial_scale=4.0)
    plain = keras.optimizers.Adam(0.1)
    for each in (optimizer, plain):
        each.build([table])
    gradient = sparse(tf, [1, 1, 2])
    scaled = tf.IndexedSlices(gradient.values * 4.0, gradient.indices, gradient.dense_shape)

    assert compare(optimizer, scaled, table).difference == pytest.approx(compare(plain, gradient, table).difference)


def test_there_is_nothing_to_compare_without_repeated_rows(tf: Any, keras: Any) -> None:
    table = keras.Variable(np.ones((6, 2), "float32"))
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([table])

    assert compare(optimizer, sparse(tf, [1, 2, 3]), table) is None
    assert compare(optimizer, tf.ones([6, 2]), table) is None
    assert compare(deduplicate(optimizer), sparse(tf, [1, 1]), table) is None


def test_tf_keras_sums_them_itself(tf: Any, tf_keras: Any) -> None:
    table = tf.Variable(np.ones((6, 2), "float32"))
    optimizer = tf_keras.optimizers.Adam(0.1)
    optimizer.build([table])

    assert compare(optimizer, sparse(tf, [1, 1, 2]), table).difference < 1e-6
