"""The score function: value, gradient, baselines. That it is unbiased is in test_unbiased.py."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


def test_the_value_is_the_cost_itself(tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any]) -> None:
    cost, log_prob = tf.constant([0.1, 3.0, -7.3]), tf.constant([-0.2, -5.0, -80.0])

    assert np.array_equal(compiled(sampling.score_function)(cost, log_prob), cost)


def test_the_gradient_is_cost_times_score_plus_that_of_the_cost(tf: ModuleType, sampling: ModuleType) -> None:
    theta, phi = tf.Variable([0.3, -0.4]), tf.Variable([2.0, 5.0])
    with tf.GradientTape() as tape:
        loss = sampling.score_function(phi * phi, 3.0 * theta, baseline=1.0)

    to_theta, to_phi = tape.gradient(loss, [theta, phi])

    assert np.allclose(to_theta, [3.0 * (4.0 - 1.0), 3.0 * (25.0 - 1.0)])
    assert np.allclose(to_phi, [4.0, 10.0])


def weights_on_scores(tf: Any, sampling: Any, cost: Any, **options: Any) -> Any:
    """What each sample's score is multiplied with."""
    log_prob = tf.Variable(tf.zeros_like(cost))
    with tf.GradientTape() as tape:
        loss = sampling.score_function(cost, log_prob, **options)
    return tape.gradient(loss, log_prob).numpy()


@pytest.mark.parametrize("axis", [0, 1])
def test_leave_one_out_subtracts_the_mean_of_the_others(tf: ModuleType, sampling: ModuleType, axis: int) -> None:
    cost = np.random.default_rng(0).normal(size=(4, 3))

    found = weights_on_scores(tf, sampling, tf.constant(cost), baseline="leave-one-out", axis=axis)

    rows = cost if axis == 0 else cost.T
    twin = np.array([[row[j] - np.delete(rows, i, 0)[:, j].mean() for j in range(rows.shape[1])]
                     for i, row in enumerate(rows)])  # fmt: skip
    assert np.allclose(found, twin if axis == 0 else twin.T)


def test_a_moving_average_holds_the_steps_before(
    tf: ModuleType, sampling: ModuleType, compiled: Callable[..., Any]
) -> None:
    average = sampling.MovingAverage(decay=0.8)
    step = compiled(lambda cost: average(cost))
    costs = np.random.default_rng(0).normal(size=(6, 5)) + 10.0

    found = [float(step(tf.constant(cost, tf.float32))) for cost in costs]

    means = costs.mean(1)
    twin = [0.0] + [np.average(means[:n], weights=0.8 ** np.arange(n)[::-1]) for n in range(1, 6)]
    assert np.allclose(found, twin, rtol=1e-5)


def test_a_moving_average_as_baseline_is_subtracted_before_it_moves(tf: ModuleType, sampling: ModuleType) -> None:
    average = sampling.MovingAverage(decay=0.5)

    first = weights_on_scores(tf, sampling, tf.constant([4.0, 6.0]), baseline=average)
    second = weights_on_scores(tf, sampling, tf.constant([4.0, 6.0]), baseline=average)

    assert first.tolist() == [4.0, 6.0]
    assert second.tolist() == [-1.0, 1.0]


def test_one_infinite_cost_does_not_poison_the_average(tf: ModuleType, sampling: ModuleType) -> None:
    average = sampling.MovingAverage()

    for cost in ([2.0, 4.0], [np.inf, 1.0], [np.nan, 1.0]):
        average(tf.constant(cost))

    assert np.isclose(average(tf.constant([0.0])), 3.0)


def test_a_moving_average_is_saved_with_its_owner(tf: ModuleType, sampling: ModuleType, tmp_path: Any) -> None:
    first, second = sampling.MovingAverage(), sampling.MovingAverage()
    first(tf.constant([5.0]))
    path = tf.train.Checkpoint(baseline=first).save(str(tmp_path / "state"))

    tf.train.Checkpoint(baseline=second).restore(path).assert_consumed()

    assert np.isclose(second(tf.constant([0.0])), 5.0)


def test_a_moving_average_moves_inside_a_while_loop(tf: ModuleType, sampling: ModuleType) -> None:
    average = sampling.MovingAverage(decay=0.0)

    @tf.function
    def run() -> Any:
        total = tf.constant(0.0)
        for number in tf.range(4):
            total += average(tf.cast(number, tf.float32)[None])
        return total

    assert float(run()) == 0.0 + 0.0 + 1.0 + 2.0


def test_a_user_baseline_gets_no_gradient(tf: ModuleType, sampling: ModuleType) -> None:
    critic = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = sampling.score_function(tf.constant([3.0, 4.0]), tf.constant([-1.0, -1.0]), baseline=critic)

    assert tape.gradient(loss, critic) is None


@pytest.mark.parametrize(
    ("cost", "log_prob", "options", "message"),
    [
        ([5, 1], [5], {}, r"`cost` has shape \(5, 1\) and `log_prob` \(5,\)"),
        ([5], [5], {"baseline": "median"}, "`baseline` is 'median'"),
        ([1], [1], {"baseline": "leave-one-out"}, "at least two samples"),
        ([5], [5], {"baseline": "leave-one-out", "axis": 1}, "no axis 1"),
        ([5], [5], {"baseline": np.ones([5, 1])}, r"`baseline` has shape \(5, 1\) and `cost` \(5,\)"),
    ],
)
def test_shapes_that_would_broadcast_silently_are_refused(
    tf: ModuleType,
    sampling: ModuleType,
    compiled: Callable[..., Any],
    cost: list[int],
    log_prob: list[int],
    options: dict[str, Any],
    message: str,
) -> None:
    run = compiled(lambda *both: sampling.score_function(*both, **options))

    with pytest.raises(sampling.ParameterError, match=message):
        run(tf.ones(cost), tf.ones(log_prob))


def test_samples_drawn_for_scoring_carry_no_gradient_but_their_scores_do(tf: ModuleType, sampling: ModuleType) -> None:
    logits, mean = tf.Variable([[0.1, 0.2, 0.3]]), tf.Variable([0.5])
    with tf.GradientTape(persistent=True) as tape:
        draws = [
            sampling.draw_categorical(logits, seed=(3, 5)),
            sampling.draw_bernoulli(logits, seed=(3, 5)),
            sampling.draw_normal(mean, 2.0, seed=(3, 5)),
        ]

    for draw, variable in zip(draws, [logits, logits, mean], strict=True):
        assert tape.gradient(draw.sample, variable) is None
        assert np.abs(tape.gradient(draw.log_prob, variable)).max() > 0.0


def test_log_probabilities_are_those_of_the_samples(tf: ModuleType, sampling: ModuleType) -> None:
    logits = np.array([[1.0, 2.0, -np.inf, 0.5], [0.0, 3.0, -1.0, -np.inf]])
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    draw = sampling.draw_categorical(tf.constant(logits), sample_shape=(50,), seed=(3, 5))
    picked = np.argmax(draw.sample, -1)

    assert np.allclose(
        draw.log_prob, np.take_along_axis(np.broadcast_to(log_p, (50, 2, 4)), picked[..., None], -1)[..., 0]
    )

    bits = sampling.draw_bernoulli(tf.constant([0.3, -2.0], tf.float64), sample_shape=(50,), seed=(3, 5))
    chance = 1.0 / (1.0 + np.exp([-0.3, 2.0]))
    assert np.allclose(bits.log_prob, np.log(np.where(bits.sample.numpy() > 0, chance, 1.0 - chance)))

    normal = sampling.draw_normal(tf.constant(1.0, tf.float64), 2.0, sample_shape=(50,), seed=(3, 5))
    density = np.exp(-0.5 * ((normal.sample - 1.0) / 2.0) ** 2) / (2.0 * np.sqrt(2.0 * np.pi))
    assert np.allclose(normal.log_prob, np.log(density))
