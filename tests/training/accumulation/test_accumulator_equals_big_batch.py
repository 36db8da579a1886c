"""`Accumulator`: whatever the model, the split, the weights and the optimizer, one update is the big batch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_pair import updates_of
from training.accumulation.big_batch import Network, dense, distance, parts, values

pytestmark = pytest.mark.tensorflow

OPTIMIZERS = {
    "sgd with momentum": lambda keras: keras.optimizers.SGD(0.05, momentum=0.9),
    "adam": lambda keras: keras.optimizers.Adam(0.01),
    "adamw": lambda keras: keras.optimizers.AdamW(0.01, weight_decay=0.1),
    "lion": lambda keras: keras.optimizers.Lion(0.01),
    "loss scale": lambda keras: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01)),
    "clipped": lambda keras: keras.optimizers.SGD(0.05, global_clipnorm=0.1),
}
RELATIVE = {"float64": 1e-6, "float32": 1e-5}
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=5)
property_test = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@pytest.mark.parametrize("name", OPTIMIZERS)
@property_test
@given(data=st.data())
def test_the_update_is_the_big_batchs(tf: Any, keras: Any, name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["float64", "float32"]), "dtype")
    reduction = data.draw(st.sampled_from(["mean", "sum", "tokens"]), "reduction")
    table = data.draw(st.sampled_from([0, 5, 400]), "rows of the embedding")
    width, seed = data.draw(st.integers(1, 6), "width"), data.draw(st.integers(0, 10**6), "seed")
    windows = data.draw(st.lists(sizes, min_size=1, max_size=3), "sizes of the micro-batches")
    big, small, turned = (Network(tf, seed=seed, width=width, dtype=dtype, table=table) for _ in range(3))
    optimizers = [OPTIMIZERS[name](keras) for _ in range(3)]
    for optimizer, network in zip(optimizers, (big, small, turned), strict=True):
        optimizer.build(network.variables)
    start = values(big.variables)
    rng = np.random.default_rng(seed)
    accumulator = _accumulator(reduction)

    for window in windows:
        x, y, tokens = _examples(tf, rng, sum(window), dtype, table)
        gradients = _gradients(tf, big, x, y, tokens, reduction, optimizers[0])
        optimizers[0].apply([dense(tf, gradient) for gradient in gradients], big.variables)
        gradients = _gradients(tf, turned, x[::-1], y[::-1], tokens[::-1], reduction, optimizers[2])
        optimizers[2].apply([dense(tf, gradient) for gradient in gradients], turned.variables)
        for part in parts(window):
            gradients = _gradients(tf, small, x[part], y[part], tokens[part], reduction, optimizers[1])
            weight = {"mean": part.stop - part.start, "sum": None, "tokens": tf.reduce_sum(tokens[part])}[reduction]
            accumulator.add(gradients, small.variables, weight=weight)
        accumulator.apply(optimizers[1])

    # Where a gradient is next to nothing, Adam makes much of its last digits: the big batch itself, summed from its
    # other end, then lands elsewhere, and nothing can be nearer to it than that.
    rounding = distance(values(turned.variables), values(big.variables), start)
    assert distance(values(small.variables), values(big.variables), start) <= max(RELATIVE[dtype], 4 * rounding)
    assert updates_of(optimizers[1]) == len(windows)


def _accumulator(reduction: str) -> Any:
    from whygrad.training.accumulation.accumulator import Accumulator

    return Accumulator(reduction="sum" if reduction == "sum" else "mean")


def _examples(tf: Any, rng: Any, count: int, dtype: str, table: int) -> tuple[Any, Any, Any]:
    x = rng.integers(0, table, size=(count, 4)) if table else rng.normal(size=(count, 3)).astype(dtype)
    y = rng.normal(size=(count, 2)).astype(dtype)
    return tf.constant(x), tf.constant(y), tf.constant(rng.integers(1, 50, size=count).astype(dtype))


def _gradients(tf: Any, network: Network, x: Any, y: Any, tokens: Any, reduction: str, optimizer: Any) -> list[Any]:
    def reduce(errors: Any) -> Any:
        if reduction == "sum":
            loss = tf.reduce_sum(errors)
        elif reduction == "mean":
            loss = tf.reduce_mean(errors)
        else:
            loss = tf.reduce_sum(errors * tokens) / tf.reduce_sum(tokens)
        return optimizer.scale_loss(loss)

    return network.gradients(x, y, reduce)


@pytest.mark.parametrize("compiled", ["eagerly", "tf.function", "jit_compile"])
@pytest.mark.parametrize("table", [0, 5, 400], ids=["dense", "many rows touched", "few rows touched"])
def test_it_works_eagerly_in_a_function_and_under_xla(tf: Any, keras: Any, compiled: str, table: int) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    big, small = (Network(tf, seed=1, width=4, table=table) for _ in range(2))
    ours, theirs = keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01)
    accumulator = Accumulator(steps=3)

    def step(x: Any, y: Any) -> None:
        accumulator.add(small.gradients(x, y, tf.reduce_mean), small.variables, weight=tf.shape(x)[0])
        if accumulator.ready:
            accumulator.apply(ours)

    if compiled != "eagerly":
        step = tf.function(step, reduce_retracing=True, jit_compile=compiled == "jit_compile")
    rng, start = np.random.default_rng(2), values(big.variables)
    for _ in range(3):
        x, y, _ = _examples(tf, rng, 40, "float64", table)
        theirs.apply([dense(tf, g) for g in big.gradients(x, y, tf.reduce_mean)], big.variables)
        for part in parts([16, 16, 8]):
            step(x[part], y[part])

    assert distance(values(small.variables), values(big.variables), start) <= 1e-6
    assert int(ours.iterations.numpy()) == 3


def test_tokens_weigh_what_a_mean_of_means_would_not(tf: Any, keras: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    v = tf.Variable([0.0], dtype=tf.float64)
    accumulator = Accumulator()
    accumulator.add([tf.constant([1.0], tf.float64)], [v], weight=3)
    accumulator.add([tf.constant([0.0], tf.float64)], [v], weight=7)

    accumulator.apply(keras.optimizers.SGD(1.0))

    assert v.numpy()[0] == pytest.approx(-0.3)


def test_without_weights_it_gives_the_bits_of_the_plain_mean(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(4, 100)).astype("float32")
    v = tf.Variable(tf.zeros([100]))
    accumulator = Accumulator()
    for gradient in gradients:
        accumulator.add([tf.constant(gradient)], [v])

    total = ((gradients[0] + gradients[1]) + gradients[2]) + gradients[3]
    assert np.array_equal(accumulator.gradients()[0][0].numpy(), total * np.float32(0.25))


def test_sparse_gradients_reach_the_optimizer_sparse_with_every_row_once(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    table = tf.Variable(tf.zeros([1000, 2]))
    accumulator = Accumulator()
    accumulator.add([tf.IndexedSlices(tf.ones([3, 2]), tf.constant([7, 7, 2]), tf.constant([1000, 2]))], [table])
    accumulator.add([tf.IndexedSlices(tf.ones([2, 2]), tf.constant([2, 9]), tf.constant([1000, 2]))], [table])

    gradient = accumulator.gradients()[0][0]

    assert isinstance(gradient, tf.IndexedSlices)
    rows = dict(zip(gradient.indices.numpy().tolist(), gradient.values.numpy()[:, 0].tolist(), strict=True))
    assert rows == {7: 1.0, 2: 1.0, 9: 0.5}


def test_few_touched_rows_take_the_room_of_these_rows(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    table = tf.Variable(tf.zeros([10_000, 8]))
    accumulator = Accumulator(steps=4)
    rng = np.random.default_rng(0)
    for count in (5, 20, 60, 90):
        rows = tf.constant(rng.integers(0, 10_000, count))
        accumulator.add([tf.IndexedSlices(tf.ones([count, 8]), rows, tf.constant([10_000, 8]))], [table])

    room = sum(int(tf.size(variable)) for variable in accumulator.window.variables)
    assert room < 10_000 * 8 / 10


def test_more_rows_than_the_table_has_do_not_take_more_room_than_the_table(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    table = tf.Variable(tf.zeros([50, 2]))
    accumulator = Accumulator()
    accumulator.add([tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), tf.constant([50, 2]))], [table])
    for _ in range(30):
        rows = tf.range(50, dtype=tf.int32)
        accumulator.add([tf.IndexedSlices(tf.ones([50, 2]), rows, tf.constant([50, 2]))], [table])

    assert int(tf.size(accumulator.window.buffers[0].rows)) <= 100
    assert dense(tf, accumulator.gradients()[0][0]).numpy()[3, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_float32_buffers_keep_what_half_precision_loses(tf: Any, dtype: str) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    v = tf.Variable(tf.zeros([1], dtype))
    totals = {}
    for buffer in (None, "float32"):
        accumulator = Accumulator(reduction="sum", buffer_dtype=buffer)
        for value in [2048.0] + [1.0] * 100:
            accumulator.add([tf.constant([value], dtype)], [v])
        totals[buffer] = float(accumulator.gradients()[0][0][0])

    assert totals[None] == 2048  # neither has a number 2049
    assert totals["float32"] == pytest.approx(2148, rel=0.01)


def test_large_weights_do_not_overflow_float16(tf: Any) -> None:
    from whygrad.training.accumulation.accumulator import Accumulator

    v = tf.Variable(tf.zeros([1], tf.float16))
    accumulator = Accumulator()
    for _ in range(4):
        accumulator.add([tf.constant([30.0], tf.float16)], [v], weight=100_000)

    assert float(accumulator.gradients()[0][0][0]) == 30.0
