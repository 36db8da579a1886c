"""What a guard does besides skipping: stop, mend, go back, tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import NonfiniteError, UsageError

pytestmark = pytest.mark.tensorflow

STYLES = ["eager", "function", "jit_compile"]


def make_step(tf: Any, optimizer: Any, weights: Any, style: str) -> Any:
    """One step of gradient descent on `sum(weights * x)`: the gradient is x."""

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * x)
        optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights], strict=True))

    if style == "eager":
        return step
    return tf.function(step, jit_compile=style == "jit_compile")


BAD = [np.nan, 1.0]
GOOD = [1.0, 1.0]


@pytest.fixture(params=STYLES)
def style(request: Any) -> str:
    return str(request.param)


def test_the_bad_elements_alone_are_left_out(style: str, tf: Any, keras: Any) -> None:
    weights = tf.Variable([1.0, 1.0])
    optimizer = wg.guard(keras.optimizers.SGD(0.5), "zero")
    step = make_step(tf, optimizer, weights, style)

    step(tf.constant(BAD))

    np.testing.assert_array_equal(weights.numpy(), [1.0, 0.5])


@pytest.mark.parametrize("on_disk", [False, True], ids=["in memory", "on disk"])
def test_training_goes_back_to_a_good_state(on_disk: bool, style: str, tmp_path: Path, tf: Any, keras: Any) -> None:
    if on_disk and style == "jit_compile":
        pytest.skip("refused, below")
    weights = tf.Variable([1.0, 1.0])
    inner = keras.optimizers.SGD(0.5, momentum=0.9)
    folder = tmp_path / "states" if on_disk else None
    optimizer = wg.guard(inner, "rollback", keep=2, keep_every=2, keep_in=folder)
    step = make_step(tf, optimizer, weights, style)
    states = [weights.numpy()]
    for _ in range(5):
        step(tf.constant(GOOD))
        states.append(weights.numpy())

    step(tf.constant(BAD))
    once = weights.numpy()
    step(tf.constant(BAD))
    twice = weights.numpy()
    step(tf.constant(GOOD))

    np.testing.assert_array_equal(once, states[4])  # kept after the updates 2 and 4
    np.testing.assert_array_equal(twice, states[2])
    np.testing.assert_array_equal(weights.numpy(), states[3])  # the momentum went back too
    assert int(inner.iterations.numpy()) == 3


def test_a_state_on_disk_can_be_read_without_the_program(tmp_path: Path, tf: Any, keras: Any) -> None:
    weights = tf.Variable([1.0, 1.0], name="weights")
    optimizer = wg.guard(keras.optimizers.SGD(0.5), "rollback", keep=1, keep_every=1, keep_in=tmp_path)
    step = make_step(tf, optimizer, weights, "eager")

    step(tf.constant(GOOD))

    reader = tf.train.load_checkpoint(str(tmp_path / "state-0"))
    np.testing.assert_array_equal(reader.get_tensor("0000 weights"), weights.numpy())


def test_states_on_disk_are_refused_where_they_cannot_be_written(tmp_path: Path, tf: Any, keras: Any) -> None:
    optimizer = wg.guard(keras.optimizers.SGD(0.5), "rollback", keep_in=tmp_path)
    with pytest.raises(Exception, match="jit_compile=True cannot write"):  # AutoGraph raises it as its own
        make_step(tf, optimizer, tf.Variable([1.0, 1.0]), "jit_compile")(tf.constant(GOOD))
    (tmp_path / "file").write_text("")
    optimizer = wg.guard(keras.optimizers.SGD(0.5), "rollback", keep_in=tmp_path / "file" / "states")
    with pytest.raises(UsageError, match="states cannot be kept in"):
        make_step(tf, optimizer, tf.Variable([1.0, 1.0]), "eager")(tf.constant(GOOD))


@pytest.mark.parametrize(("mode", "patience", "held_back"), [("raise", 10, 1), ("skip", 3, 3), ("zero", 2, 2)])
def test_training_stops(mode: str, patience: int, held_back: int, style: str, tf: Any, keras: Any) -> None:
    weights = tf.Variable([1.0, 1.0], name="weights")
    optimizer = wg.guard(keras.optimizers.SGD(0.5), mode, patience=patience)
    step = make_step(tf, optimizer, weights, style)
    step(tf.constant(GOOD))
    for _ in range(held_back - 1):
        step(tf.constant(BAD))
        optimizer.check()

    def step_too_many() -> None:
        step(tf.constant(BAD))
        optimizer.check()

    with pytest.raises((NonfiniteError, tf.errors.InvalidArgumentError), match="not finite") as raised:
        step_too_many()

    assert "weights" in str(raised.value)
    assert np.isfinite(weights.numpy()).all()
    assert [each.step for each in optimizer.bad_steps] == list(range(2, 2 + held_back))


def test_a_good_step_ends_the_row(style: str, tf: Any, keras: Any) -> None:
    optimizer = wg.guard(keras.optimizers.SGD(0.5), patience=2)
    step = make_step(tf, optimizer, tf.Variable([1.0, 1.0]), style)

    for x in (BAD, GOOD, BAD, GOOD, BAD):
        step(tf.constant(x))
        optimizer.check()

    assert len(optimizer.bad_steps) == 3


@pytest.mark.parametrize("jit_compile", [True, False])
def test_fit_stops_with_our_error(jit_compile: bool, tf: Any, keras: Any) -> None:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile(wg.guard(keras.optimizers.SGD(0.1), patience=2), "mse", jit_compile=jit_compile)
    x = np.ones((40, 2), "float32")
    x[16:] = np.nan

    with pytest.raises(NonfiniteError, match="step 4"):
        model.fit(x, np.ones((40, 1)), batch_size=8, shuffle=False, verbose=0)

    assert all(np.isfinite(w).all() for w in model.get_weights())


def test_squares_that_overflow_are_no_infinity(style: str, tf: Any, keras: Any) -> None:
    optimizer = wg.guard(keras.optimizers.SGD(0.5))
    step = make_step(tf, optimizer, tf.Variable([1.0, 1.0]), style)

    step(tf.constant([3e38, 1.0]))

    assert optimizer.bad_steps == ()


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
def test_sparse_and_missing_gradients(tf: Any, keras: Any) -> None:
    table, unused = tf.Variable(tf.ones((4, 2)), name="table"), tf.Variable(1.0)
    optimizer = wg.guard(keras.optimizers.SGD(0.5), "zero")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 2]) * tf.constant([[1.0, np.nan], [1.0, 1.0]]))
    gradients = tape.gradient(loss, [table, unused])
    assert isinstance(gradients[0], tf.IndexedSlices)
    optimizer.apply_gradients(zip(gradients, [table, unused], strict=True))

    np.testing.assert_array_equal(table.numpy(), [[1, 1], [0.5, 1], [0.5, 0.5], [1, 1]])
    assert [each.variables for each in optimizer.bad_steps] == [("table",)]


def test_a_step_may_move_some_of_the_variables_only(style: str, tf: Any, keras: Any) -> None:
    first, second = tf.Variable([1.0, 1.0], name="first"), tf.Variable([1.0, 1.0], name="second")
    inner = keras.optimizers.SGD(0.5)
    optimizer = wg.guard(inner)
    optimizer.build([first, second])

    make_step(tf, optimizer, second, style)(tf.constant(BAD))

    assert [each.variables for each in optimizer.bad_steps] == [("second",)]


def test_an_overflow_that_loss_scaling_absorbs_is_not_counted(tf: Any, keras: Any) -> None:
    weights = tf.Variable([1.0, 1.0])
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=4.0)
    optimizer = wg.guard(scaled, patience=2)

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(tf.reduce_sum(weights * x))
        optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights], strict=True))

    step(tf.constant(BAD))
    step(tf.constant(BAD))
    assert optimizer.bad_steps == ()
    assert float(scaled.dynamic_scale.numpy()) == 1.0

    step(tf.constant(BAD))
    with pytest.raises(NonfiniteError):
        step(tf.constant(BAD))
    np.testing.assert_array_equal(weights.numpy(), [1.0, 1.0])


def test_what_an_eager_step_leaves_changed_is_told(tf: Any, keras: Any) -> None:
    optimizer = wg.guard(keras.optimizers.SGD(0.5))
    make_step(tf, optimizer, tf.Variable([1.0, 1.0], name="weights"), "eager")(tf.constant(BAD))

    assert optimizer.report().splitlines() == [
        "whygrad guard: 1 of 1 steps had gradients that are not finite; nothing of them was applied",
        "  step 1: `weights`",
        "not restored: what the forward pass wrote; pass `restore=model`",
    ]


def test_saved_and_loaded_with_its_model(tf: Any, keras: Any, tmp_path: Any) -> None:
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile(wg.guard(keras.optimizers.Adam(0.1), "zero", patience=7), "mse")
    model.fit(np.ones((8, 2)), np.ones((8, 1)), verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")

    assert again.optimizer.guarding.settings == model.optimizer.guarding.settings
    for one, other in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize(
    "arguments", [{"on_nonfinite": "ignore"}, {"patience": 0}, {"on_nonfinite": "rollback", "keep": 0}]
)
def test_wrong_settings_are_refused(arguments: dict[str, Any], keras: Any) -> None:
    with pytest.raises(UsageError):
        wg.guard(keras.optimizers.SGD(), **arguments)


def test_what_is_no_optimizer_is_refused() -> None:
    with pytest.raises(UsageError, match="expected an optimizer, got 'adam'"):
        wg.guard("adam")
