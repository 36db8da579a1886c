"""`compare` on losses whose answer is known."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from training.sampling import problem

pytestmark = pytest.mark.tensorflow

LOGITS = problem.LOGITS.astype(np.float32)


@pytest.fixture
def loss(tf: ModuleType) -> Any:
    return lambda sample: problem.tf_cost(tf, sample)


def test_the_reference_is_the_exact_gradient(tf: ModuleType, sampling: ModuleType, loss: Any) -> None:
    package = "whygrad.training.sampling.comparison"
    families = importlib.import_module(f"{package}.family").FAMILIES
    exact = importlib.import_module(f"{package}.gradients").exact

    found = exact(families["categorical"], loss, tf.constant(LOGITS), (2, 3), tf.float32)
    assert np.allclose(found, problem.categorical_gradient().reshape(-1), rtol=1e-5)

    bits = np.array([0.4, -0.8, 0.1])
    cost = lambda x: tf.square(tf.tensordot(x, tf.constant([1.0, 2.0, 3.0], x.dtype), 1) - 1.3)  # noqa: E731
    found = exact(families["bernoulli"], cost, tf.constant(bits), (3,), tf.float64)
    assert np.allclose(found, problem.bernoulli_gradient(bits), rtol=1e-9)


def test_bias_is_seen_where_it_is_and_only_there(sampling: ModuleType, loss: Any) -> None:
    table = sampling.compare(None, loss, LOGITS, samples=4000)

    assert table.reference == "the exact gradient by enumeration"
    assert {row.name: row.biased for row in table.rows} == {
        "score_function": "no",
        "score_function_leave_one_out": "no",
        "rebar": "no",
        "gumbel_softmax": "yes",
        "gumbel_softmax_hard": "yes",
        "straight_through": "yes",
    }
    for name in ("score_function", "score_function_leave_one_out", "rebar"):
        assert table[name].bias.value < 5.0 * table[name].bias.error
    assert {row.name: row.evaluations for row in table.rows if row.evaluations > 1} == {
        "score_function_leave_one_out": 4,
        "rebar": 3,
    }
    assert table["score_function_leave_one_out"].spread.value < table["score_function"].spread.value


def test_the_measured_error_is_that_of_averaged_estimates(tf: ModuleType, sampling: ModuleType, loss: Any) -> None:
    """At a budget of 8 evaluations: two estimates of 4 evaluations each."""
    table = sampling.compare(["score_function_leave_one_out"], loss, LOGITS, samples=4000, budget=8)

    logits = tf.repeat(tf.constant(LOGITS)[None], 4000, 0)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        draw = sampling.draw_categorical(logits, sample_shape=(4,), seed=(17, 0))
        losses = sampling.score_function(
            problem.tf_cost(tf, draw.sample), tf.reduce_sum(draw.log_prob, -1), baseline="leave-one-out"
        )
    single = tape.gradient(losses, logits).numpy().reshape(2, 2000, 2, 3) / 4.0
    errors = np.square(single.mean(0) - problem.categorical_gradient()).sum((1, 2))
    twin = np.sqrt(np.mean(errors)) / np.linalg.norm(problem.categorical_gradient())
    assert np.isclose(table.rows[0].error.value, twin, rtol=0.1)


def test_straight_through_is_recommended_for_a_linear_loss(tf: ModuleType, sampling: ModuleType) -> None:
    table = sampling.compare(None, lambda x: tf.reduce_sum(x * tf.constant([1.0, 4.0, 2.0])), LOGITS, samples=500)

    assert table.recommended == "straight_through"  # exact there, and without variance
    assert table["straight_through"].biased == "unseen"
    assert "recommended: straight_through" in str(table)


def test_leave_one_out_is_recommended_where_relaxing_misleads(tf: ModuleType, sampling: ModuleType) -> None:
    table = sampling.compare(
        None, lambda x: tf.reduce_sum(tf.square(x - 0.45)), [0.1, 0.4, -1.0], distribution="bernoulli"
    )

    assert table.recommended == "score_function_leave_one_out"
    assert table["straight_through"].biased == "yes"


def test_the_reparameterized_normal_is_recommended_for_a_smooth_loss(tf: ModuleType, sampling: ModuleType) -> None:
    table = sampling.compare(
        None, lambda x: tf.reduce_sum(tf.sin(x)), ([0.1, 0.4, -1.0], [0.5, 1.0, 2.0]), distribution="normal"
    )

    assert table.reference == "a score-function run of 200000 draws"
    assert table.recommended == "reparameterized_normal"
    assert table["reparameterized_normal"].biased == "unseen"


def test_the_reparameterized_normal_is_found_out_on_a_loss_with_jumps(tf: ModuleType, sampling: ModuleType) -> None:
    table = sampling.compare(
        None, lambda x: tf.reduce_sum(tf.sign(x)) + 0.0 * tf.reduce_sum(x), ([0.1], [0.5]), distribution="normal"
    )

    assert table["reparameterized_normal"].biased == "yes"
    assert table.recommended in ("score_function", "score_function_leave_one_out")


@pytest.mark.parametrize("size", [(1, 3), (60, 3)])
def test_rebar_is_worth_its_evaluations_where_many_categories_share_a_cost(
    tf: ModuleType, sampling: ModuleType, size: tuple[int, int]
) -> None:
    rng = np.random.default_rng(0)
    weights = tf.constant(rng.normal(size=(size[0] * size[1], 8)) * 2.0 / np.sqrt(size[0] * size[1]), tf.float32)
    target = tf.constant(rng.normal(size=(1, 8)), tf.float32)

    def cost(sample: Any) -> Any:
        return tf.reduce_sum(tf.square(tf.tanh(tf.matmul(tf.reshape(sample, [1, -1]), weights)) - target))

    estimators = {
        "leave one out": "score_function_leave_one_out",
        "rebar": lambda loss, logits, seed: sampling.rebar(loss, logits, temperature=0.1, seed=seed),
    }
    table = sampling.compare(estimators, cost, rng.normal(size=size).astype(np.float32), samples=1000, budget=12)

    is_better = table["rebar"].error.value < 0.7 * table["leave one out"].error.value
    assert is_better == (size[0] == 60)


def test_your_own_estimator_can_be_compared(tf: ModuleType, sampling: ModuleType, loss: Any) -> None:
    estimators = {
        "cold": lambda loss, logits, seed: loss(sampling.gumbel_softmax(logits, 0.1, seed=seed)),
        "warm": lambda loss, logits, seed: loss(sampling.gumbel_softmax(logits, 5.0, seed=seed)),
        "score": "score_function",
    }

    table = sampling.compare(estimators, loss, LOGITS)

    assert table["cold"].bias.value < table["warm"].bias.value
    assert table["cold"].spread.value > table["warm"].spread.value
    assert table["score"].biased == "no"


def test_estimators_without_a_usable_gradient_are_named(tf: ModuleType, sampling: ModuleType, loss: Any) -> None:
    estimators = {
        "cut": lambda loss, logits, seed: loss(tf.one_hot(tf.argmax(logits, -1), 3)),
        "broken": lambda loss, logits, seed: loss(tf.sqrt(logits - 100.0)),
    }

    table = sampling.compare(estimators, loss, LOGITS, samples=10)

    assert [row.trouble for row in table.rows] == ["no gradient: the path is cut", "not finite"]
    assert table.recommended is None
    assert "no gradient: the path is cut" in str(table)


def test_a_reference_of_your_own_is_used(tf: ModuleType, sampling: ModuleType, loss: Any) -> None:
    wrong = sampling.compare(["score_function"], loss, LOGITS, reference=np.full((2, 3), 5.0))
    right = sampling.compare(["score_function"], loss, LOGITS, reference=problem.categorical_gradient())

    assert wrong["score_function"].bias.value > 0.5 > right["score_function"].bias.value
    assert right.reference == "the gradient you gave"


def test_a_loss_without_a_slope_is_reported_in_absolute_numbers(tf: ModuleType, sampling: ModuleType) -> None:
    table = sampling.compare(["score_function"], lambda x: tf.constant(2.0) + 0.0 * x[0], tf.zeros([3]), samples=500)

    assert not table.relative
    assert np.isclose(table["score_function"].spread.value, 2.0 * np.sqrt(2.0 / 3.0), rtol=0.05)
    assert "absolute" in str(table)


def test_the_same_seed_gives_the_same_table(sampling: ModuleType, loss: Any) -> None:
    first, again, other = (
        str(sampling.compare(["gumbel_softmax"], loss, LOGITS, samples=200, seed=seed))
        for seed in [(1, 2), (1, 2), (1, 3)]
    )

    assert first == again != other


def test_tensorflow_does_not_complain_of_tracing_in_every_call(
    tf: ModuleType, sampling: ModuleType, loss: Any, caplog: pytest.LogCaptureFixture
) -> None:
    tf.get_logger().addHandler(caplog.handler)
    try:
        for _ in range(3):
            sampling.compare(None, loss, LOGITS, samples=16)
    finally:
        tf.get_logger().removeHandler(caplog.handler)

    assert [text for text in caplog.messages if "retracing" in text] == []


def test_a_loss_with_python_control_flow_on_tensors_and_variables_works(tf: ModuleType, sampling: ModuleType) -> None:
    shift = tf.Variable(0.5)

    def cost(sample: Any) -> Any:
        return tf.cond(sample[0] > 0.5, lambda: tf.reduce_sum(sample) * shift, lambda: tf.reduce_sum(sample * sample))

    table = sampling.compare(["score_function_leave_one_out"], cost, tf.zeros([3]), samples=500)

    assert table["score_function_leave_one_out"].bias.value < 5.0 * table["score_function_leave_one_out"].bias.error


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["mystery"], sum, LOGITS), {}, "no estimator 'mystery' for the categorical distribution"),
        (([], sum, LOGITS), {}, "no estimators given"),
        ((None, sum, LOGITS), {"distribution": "poisson"}, "`distribution` cannot be 'poisson'"),
        ((None, sum, LOGITS), {"samples": 1}, "`samples` must be a whole number of at least 2, got 1"),
        ((None, sum, LOGITS), {"distribution": "normal"}, "`parameters` of a normal distribution are two tensors"),
        ((None, sum, np.array([1, 2])), {}, "`parameters` is int64"),
        ((None, lambda x: x, LOGITS), {}, r"`loss` returned shape \(2, 3\) for one sample"),
    ],
)
def test_wrong_arguments_are_one_clear_error(
    sampling: ModuleType, arguments: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(sampling.ParameterError, match=message):
        sampling.compare(*arguments, **options)
