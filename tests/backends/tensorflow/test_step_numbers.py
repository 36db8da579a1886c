"""The sizes of gradients that any watched run keeps: right, alike in every mode, without a trace in the training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from networks import IMAGES, WORDS, X, Y, attending, convolutional, dense, state, train
from whygrad.backends.tensorflow.numbers.kept_turns import FIRST, NEWEST, ROWS, STRIDE, is_kept, row_of
from whygrad.graph import Request
from whygrad.watch import watch

by_mode = pytest.mark.parametrize("mode", ["eager", "traced", "compiled by XLA"])


def step_in(mode: str, tf: ModuleType, step: Callable[..., Any]) -> Callable[..., Any]:
    if mode == "eager":
        return step
    made: Callable[..., Any] = tf.function(step, jit_compile=mode == "compiled by XLA")
    return made


def only_request(run: Any) -> Request:
    [request] = run.recording().requests
    return request


def test_the_first_steps_and_then_one_in_so_many_are_kept_the_newest_of_them() -> None:
    rows: dict[int, int] = {}
    last = FIRST + STRIDE * (NEWEST + 5)
    for turn in range(last + 1):
        if is_kept(turn):
            rows[row_of(turn)] = turn

    kept = sorted(rows.values())
    assert len(kept) == ROWS
    assert kept[:FIRST] == list(range(FIRST))
    assert kept[FIRST:] == list(range(last - STRIDE * (NEWEST - 1), last + 1, STRIDE))


@pytest.mark.tensorflow
@by_mode
def test_norms_are_those_of_numpy(mode: str, tf: ModuleType) -> None:
    weights = [tf.Variable(tf.random.stateless_normal((n, n), (n, 0)), name=f"w{n}") for n in (2, 3, 100)]
    bias = tf.Variable(tf.ones((5,)), name="b")
    expected: list[list[float]] = []

    def step(scale: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            loss = scale * (tf.add_n([tf.reduce_sum(tf.sin(w)) for w in weights]) + tf.reduce_sum(bias**3))
        gradients = tape.gradient(loss, [*weights, bias])
        for gradient, variable in zip(gradients, [*weights, bias], strict=True):
            variable.assign_sub(0.01 * gradient)
        return list(gradients)

    with watch() as run:
        run_step = step_in(mode, tf, step)
        for number in range(40):
            gradients = run_step(tf.constant(1.0 + number))
            expected.append([float(np.linalg.norm(g.numpy().astype("float64"))) for g in gradients])

    request = only_request(run)
    assert request.ran == 40
    assert request.steps == (*range(16), 16, 32)
    found = np.array([source.numbers.norms for source in request.sources if source.numbers]).T
    assert found == pytest.approx(np.array(expected)[list(request.steps)], rel=1e-5)


@pytest.mark.tensorflow
@by_mode
def test_zero_is_zero_tiny_is_not_and_huge_is_finite(mode: str, tf: ModuleType) -> None:
    tiny, none, bad, huge = (tf.Variable([1.0, 2.0], name=name) for name in ("tiny", "none", "bad", "huge"))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(1e-30 * tiny + 0.0 * none + tf.sqrt(bad - [1.0, 0.0]) + 1e25 * huge)
        return tape.gradient(loss, [tiny, none, bad, huge])

    with watch() as run:
        run_step = step_in(mode, tf, step)
        for _ in range(3):
            run_step()

    norms = [source.numbers.norms[0] for source in only_request(run).sources if source.numbers]
    assert norms[0] == pytest.approx(1e-30, rel=1e-5, abs=0)  # the largest element: squares are lost
    assert norms[1] == 0
    assert np.isnan(norms[2])
    assert 0.99e25 < norms[3] < 1.42e25  # the norm, or its largest element


@pytest.mark.tensorflow
@by_mode
def test_repeated_rows_are_added_up_before_they_are_measured(mode: str, tf: ModuleType) -> None:
    if mode == "eager":
        pytest.skip("eager steps measure the rows as they are stored")
    table = tf.Variable(tf.ones((6, 2)), name="table")

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, tf.constant([3, 3, 3, 1])))
        return tf.convert_to_tensor(tape.gradient(loss, table))

    with watch() as run:
        whole = step_in(mode, tf, step)()

    [source] = only_request(run).sources
    assert source.numbers is not None
    assert source.numbers.norms == pytest.approx([np.linalg.norm(whole.numpy())])


@pytest.mark.tensorflow
@by_mode
def test_silent_units_and_variables_that_stay_are_counted(mode: str, tf: ModuleType) -> None:
    bias = tf.Variable([1.0, -50.0, 1.0, -50.0], name="bias")
    other = tf.Variable(1.0, name="other")
    x = tf.random.stateless_normal((8, 4), (0, 0))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = other * tf.reduce_sum(tf.nn.relu(x + bias))
        gradients = tape.gradient(loss, [bias, other])
        bias.assign_sub(1e-3 * gradients[0])
        return gradients

    with watch() as run:
        run_step = step_in(mode, tf, step)
        for _ in range(12):
            run_step()

    first, second = (source.numbers for source in only_request(run).sources)
    assert first is not None
    assert second is not None
    assert (first.activation, first.units, first.silent, first.moved) == ("relu", 4, 2, True)
    assert (second.activation, second.units, second.moved) == ("", None, False)


NETWORKS: dict[str, tuple[Callable[..., Any], Any]] = {
    "dense": (dense, X),
    "convolutional": (convolutional, IMAGES),
    "attending": (attending, WORDS),
}


def same_bits(make: Callable[[], Any], data: Any) -> None:
    bare = make()
    train(bare, x=data)
    with watch() as run:
        watched = make()
        train(watched, x=data)

    assert state(watched) == state(bare)
    assert only_request(run).ran == 10  # it did measure


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("jit", [False, True])
def test_fit_is_bit_for_bit_the_same(name: str, jit: bool, keras: ModuleType) -> None:
    network, data = NETWORKS[name]
    same_bits(lambda: network(keras, keras.optimizers.Adam(0.01), jit_compile=jit), data)


@pytest.mark.tensorflow
def test_fit_of_tf_keras_is_bit_for_bit_the_same(tf_keras: ModuleType) -> None:
    same_bits(lambda: dense(tf_keras, tf_keras.optimizers.Adam(0.01)), X)


@pytest.mark.tensorflow
@by_mode
def test_loops_by_hand_are_bit_for_bit_the_same(mode: str, tf: ModuleType, keras: ModuleType) -> None:
    def trained() -> list[bytes]:
        model, optimizer = dense(keras, "sgd"), keras.optimizers.Adam(0.01)
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        optimizer.build(model.trainable_variables)
        run_step = step_in(mode, tf, step)
        for start in range(0, 40, 4):
            run_step(tf.constant(X[start : start + 4]), tf.constant(Y[start : start + 4]))
        return state(model, optimizer)

    bare = trained()
    with watch():
        watched = trained()

    assert watched == bare


@pytest.mark.tensorflow
def test_functions_that_are_rewritten_elsewhere_are_left_alone(tf: ModuleType) -> None:
    w = tf.Variable(2.0)

    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = w * w * x
        return tape.gradient(loss, w)

    with watch() as run:
        vectorized = tf.vectorized_map(slope, tf.range(4.0)).numpy()
        mapped = list(tf.data.Dataset.from_tensor_slices([0.0, 1.0, 2.0]).map(slope).as_numpy_iterator())

    assert vectorized.tolist() == [0, 4, 8, 12]
    assert mapped == [0, 4, 8]
    assert all(request.ran == 0 for request in run.recording().requests)


@pytest.mark.tensorflow
def test_a_step_that_was_watched_can_be_saved_and_goes_on_afterwards(tf: ModuleType, tmp_path: Path) -> None:
    class Trainer(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([2])])  # type: ignore[untyped-decorator]
        def train(self, x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((self.w - x) ** 2)
            self.w.assign_sub(0.5 * tape.gradient(loss, self.w))
            return loss

    with watch() as run:
        trainer = Trainer()
        trainer.train(tf.zeros(2))
        tf.saved_model.save(trainer, str(tmp_path))

    assert only_request(run).ran == 1
    assert float(trainer.train(tf.ones(2))) == 2.0
    assert float(tf.saved_model.load(str(tmp_path)).train(tf.ones(2))) == 2.0


@pytest.mark.tensorflow
def test_a_loop_inside_a_compiled_function_is_counted_by_its_steps(tf: ModuleType) -> None:
    w = tf.Variable(1.0)

    with watch() as run:

        @tf.function  # type: ignore[untyped-decorator]
        def loop() -> None:
            for _ in tf.range(20):
                with tf.GradientTape() as tape:
                    loss = w * w
                w.assign_sub(0.25 * tape.gradient(loss, w))

        loop()

    request = only_request(run)
    assert request.ran == 20
    assert request.sources[0].numbers is not None
    assert request.sources[0].numbers.norms[:4] == (2, 1, 0.5, 0.25)


@pytest.mark.tensorflow
def test_a_gradient_that_is_missing_in_a_later_trace_is_not_measured_there(
    tf: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    w, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def step(x: Any, both: bool) -> Any:
        with tf.GradientTape() as tape:
            loss = x * w * (b if both else 1.0)
        return tape.gradient(loss, [w, b])

    with watch():
        for both in (True, False):
            step(tf.constant(3.0), both)

    assert "internal error" not in capfd.readouterr().err
