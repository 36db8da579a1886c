"""Every estimator: in half precision, compiled by XLA, inside a while loop, repeatable from a seed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

CODEBOOK = np.random.default_rng(0).normal(size=(6, 4))

# From a positive tensor of shape [3, 4] and a seed to a tensor of floats.
ESTIMATORS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "reparameterized_normal": lambda tf, s, x, seed: s.reparameterized_normal(-x, x, seed=seed),
    "log_variance": lambda tf, s, x, seed: s.reparameterized_normal(x, log_variance=x, seed=seed),
    "gumbel_softmax": lambda tf, s, x, seed: s.gumbel_softmax(x, 0.5, seed=seed),
    "gumbel_softmax hard": lambda tf, s, x, seed: s.gumbel_softmax(x, 0.5, hard=True, seed=seed),
    "relaxed_bernoulli": lambda tf, s, x, seed: s.relaxed_bernoulli(x, 0.5, seed=seed),
    "relaxed_bernoulli hard": lambda tf, s, x, seed: s.relaxed_bernoulli(x, 0.5, hard=True, seed=seed),
    "implicit_gamma kernel": lambda tf, s, x, seed: s.implicit_gamma(x, 2.0, seed=seed),
    "implicit_beta kernel": lambda tf, s, x, seed: s.implicit_beta(x, x, seed=seed),
    "implicit_dirichlet kernel": lambda tf, s, x, seed: s.implicit_dirichlet(x, seed=seed),
    "implicit_gamma": lambda tf, s, x, seed: s.implicit_gamma(x, 2.0, seed=seed, compilable=True),
    "implicit_beta": lambda tf, s, x, seed: s.implicit_beta(x, x, seed=seed, compilable=True),
    "implicit_dirichlet": lambda tf, s, x, seed: s.implicit_dirichlet(x, seed=seed, compilable=True),
    "draw_categorical": lambda tf, s, x, seed: _scored(tf, s, s.draw_categorical(x, sample_shape=(2,), seed=seed)),
    "draw_bernoulli": lambda tf, s, x, seed: _scored(tf, s, s.draw_bernoulli(x, sample_shape=(2,), seed=seed)),
    "draw_normal": lambda tf, s, x, seed: _scored(tf, s, s.draw_normal(x, x, sample_shape=(2,), seed=seed)),
    "rebar": lambda tf, s, x, seed: s.rebar(lambda y: tf.reduce_sum(tf.square(y) * _places(tf, y), -1), x, seed=seed),
    "straight_through_onehot": lambda tf, s, x, seed: s.straight_through_onehot(x),
    "straight_through_argmax": lambda tf, s, x, seed: s.straight_through_argmax(x),
    "straight_through_top_k": lambda tf, s, x, seed: s.straight_through_top_k(x, 2),
    "straight_through_round": lambda tf, s, x, seed: s.straight_through_round(x),
    "straight_through_sign": lambda tf, s, x, seed: s.straight_through_sign(x, clip=3.0),
    "straight_through": lambda tf, s, x, seed: s.straight_through(tf.floor)(x),
    "vq": lambda tf, s, x, seed: _sum_of(tf, s.vq(x, tf.cast(CODEBOOK, x.dtype))),
}
RANDOM = [name for name in ESTIMATORS if not name.startswith(("straight_through", "vq"))]
# Gamma and its kin are computed in float32 whatever the type, and their gradients take XLA seconds to compile.
COMPILABLE = [
    (name, dtype)
    for name in ESTIMATORS
    for dtype in ("float32", "float16")
    if not name.endswith("kernel") and not (name.startswith("implicit") and dtype == "float16")
]
X = np.random.default_rng(1).uniform(0.3, 2.5, size=(3, 4))


def _places(tf: Any, x: Any) -> Any:
    return tf.cast(tf.range(4), x.dtype)


def _scored(tf: Any, sampling: Any, draw: Any) -> Any:
    rank = draw.log_prob.shape.rank
    log_prob = tf.reduce_sum(draw.log_prob, list(range(2, rank)))
    cost = tf.reduce_sum(
        tf.square(draw.sample - 0.3 * _places(tf, draw.sample)), list(range(2, draw.sample.shape.rank))
    )
    return sampling.score_function(cost, log_prob, baseline="leave-one-out")


def _sum_of(tf: Any, quantized: Any) -> Any:
    return quantized.values + quantized.loss


def value_and_gradient(tf: Any, function: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
        weights = tf.cast(tf.reshape(tf.range(1, tf.size(value) + 1), tf.shape(value)), value.dtype)
        total = tf.reduce_sum(weights * value)
    return value, tape.gradient(total, x)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_type_and_finiteness_of_value_and_gradient(tf: ModuleType, sampling: ModuleType, name: str, dtype: str) -> None:
    x = tf.cast(X, dtype)

    value, slope = value_and_gradient(tf, lambda x: ESTIMATORS[name](tf, sampling, x, (3, 5)), x)

    assert value.dtype == slope.dtype == x.dtype
    assert np.isfinite(np.asarray(value, np.float64)).all()
    assert np.isfinite(np.asarray(slope, np.float64)).all()
    assert np.abs(np.asarray(slope, np.float64)).max() > 0.0


@pytest.mark.parametrize("name", ESTIMATORS)
def test_half_precision_is_float32_rounded(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    half = tf.cast(X, tf.float16)

    rough = value_and_gradient(tf, lambda x: ESTIMATORS[name](tf, sampling, x, (3, 5)), half)
    fine = value_and_gradient(tf, lambda x: ESTIMATORS[name](tf, sampling, x, (3, 5)), tf.cast(half, tf.float32))

    for found, expected in zip(rough, fine, strict=True):
        size = np.abs(expected).max()
        assert np.allclose(np.asarray(found, np.float32), expected, rtol=2e-2, atol=2e-2 * size)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_tracing_changes_nothing(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    def run(x: Any) -> Any:
        return value_and_gradient(tf, lambda x: ESTIMATORS[name](tf, sampling, x, (3, 5)), x)

    x = tf.constant(X, tf.float32)
    for eager, traced in zip(run(x), tf.function(run)(x), strict=True):
        assert np.allclose(eager, traced, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "dtype"), COMPILABLE)
def test_xla_compiles_value_and_gradient(tf: ModuleType, sampling: ModuleType, name: str, dtype: str) -> None:
    @tf.function(jit_compile=True)
    def run(x: Any) -> Any:
        return value_and_gradient(tf, lambda x: ESTIMATORS[name](tf, sampling, x, (3, 5)), x)

    value, slope = run(tf.cast(X, dtype))

    assert np.isfinite(np.asarray(value, np.float64)).all()
    assert np.isfinite(np.asarray(slope, np.float64)).all()
    assert np.abs(np.asarray(slope, np.float64)).max() > 0.0
    assert np.array_equal(value, run(tf.cast(X, dtype))[0])  # the same seed, the same draw


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_while_loop_gives_what_the_unrolled_loop_gives(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    """The state goes through the estimator three times, with a new seed each time."""

    def body(step: Any, x: Any) -> Any:
        drawn = ESTIMATORS[name](tf, sampling, x, (3, step))
        return 1.0 + 0.3 * x + 0.1 * tf.tanh(tf.reduce_sum(drawn) + x)

    def looped(x: Any) -> Any:
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, body(i, x)), (0, x), maximum_iterations=3)[1]

    def unrolled(x: Any) -> Any:
        for step in range(3):
            x = body(step, x)
        return x

    x = tf.constant(X, tf.float32)
    expected = value_and_gradient(tf, unrolled, x)
    found = tf.function(lambda x: value_and_gradient(tf, looped, x))(x)

    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["gumbel_softmax hard", "reparameterized_normal", "rebar", "straight_through_onehot"])
def test_xla_compiles_a_while_loop(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    def body(step: Any, x: Any) -> Any:
        return step + 1, 1.0 + 0.3 * x + 0.1 * tf.tanh(ESTIMATORS[name](tf, sampling, x, (3, step))[..., :1] + x)

    @tf.function(jit_compile=True)
    def run(x: Any) -> Any:
        def looped(x: Any) -> Any:
            return tf.while_loop(lambda i, x: i < 3, body, (0, x), maximum_iterations=3)[1]

        return value_and_gradient(tf, looped, x)

    for found in run(tf.constant(X, tf.float32)):
        assert np.isfinite(found).all()


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_pair_repeats_and_another_does_not(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    x = tf.fill([40, 4], 0.9)
    first, again, other, tensor = (
        ESTIMATORS[name](tf, sampling, x, seed) for seed in [(3, 5), (3, 5), (3, 6), tf.constant([3, 5])]
    )

    assert np.array_equal(first, again)
    assert np.array_equal(first, tensor)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", RANDOM)
def test_without_a_seed_the_global_one_rules(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    x = tf.fill([40, 4], 0.9)

    def twice() -> tuple[Any, Any]:
        tf.random.set_seed(7)
        return ESTIMATORS[name](tf, sampling, x, None), ESTIMATORS[name](tf, sampling, x, None)

    (first, second), (again, _) = twice(), twice()

    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", RANDOM)
def test_a_generator_is_a_stream(tf: ModuleType, sampling: ModuleType, name: str) -> None:
    x = tf.fill([40, 4], 0.9)

    def twice() -> tuple[Any, Any]:
        stream = tf.random.Generator.from_seed(7)
        return ESTIMATORS[name](tf, sampling, x, stream), ESTIMATORS[name](tf, sampling, x, stream)

    (first, second), (again, _) = twice(), twice()

    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


def test_a_keras_seed_generator_is_a_stream(tf: ModuleType, keras: ModuleType, sampling: ModuleType) -> None:
    stream = keras.random.SeedGenerator(7)
    draw = tf.function(lambda: sampling.gumbel_softmax(tf.zeros([9]), seed=stream))

    assert not np.array_equal(draw(), draw())
    assert np.array_equal(
        sampling.gumbel_softmax(tf.zeros([9]), seed=keras.random.SeedGenerator(8)),
        sampling.gumbel_softmax(tf.zeros([9]), seed=keras.random.SeedGenerator(8)),
    )


def test_a_second_derivative_goes_through_the_smooth_part(tf: ModuleType, sampling: ModuleType) -> None:
    x = tf.constant([[0.1, 0.5, -0.3]])

    def second(function: Callable[[Any], Any]) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                total = tf.reduce_sum(function(x)[:, 0])
            slope = inner.gradient(total, x)
        return outer.gradient(slope, x)

    assert np.allclose(second(sampling.straight_through_onehot), second(tf.nn.softmax))
