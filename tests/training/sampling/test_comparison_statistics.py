"""Bias, variance and their error bars against slow twins."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def statistics(tf: ModuleType) -> ModuleType:
    return importlib.import_module("whygrad.training.sampling.comparison.statistics")


@pytest.mark.parametrize("shape", [(12, 3), (5, 40)])
def test_moments_of_an_exact_reference_are_those_of_the_definition(
    statistics: ModuleType, shape: tuple[int, int]
) -> None:
    gradients, truth = RNG(0).normal(size=shape) + 0.7, RNG(1).normal(size=shape[1])

    found = statistics.moments(gradients, statistics.exact_reference(truth))

    off = gradients - truth
    pairs = [off[i] @ off[j] for i in range(shape[0]) for j in range(shape[0]) if i != j]
    covariance = np.cov(gradients, rowvar=False) / shape[0]
    noise = 2.0 * np.trace(covariance @ covariance)
    mean_off = off.mean(0)
    assert np.isclose(found.bias_squared, np.mean(pairs))
    assert np.isclose(found.bias_noise, np.sqrt(noise))
    assert np.isclose(found.bias_squared_error, np.sqrt(noise + 4.0 * mean_off @ covariance @ mean_off))
    assert np.isclose(found.variance, gradients.var(0, ddof=1).sum())
    cosine = gradients.mean(0) @ truth / np.linalg.norm(gradients.mean(0)) / np.linalg.norm(truth)
    assert np.isclose(found.cosine, cosine)


def test_an_estimated_reference_carries_its_own_uncertainty(statistics: ModuleType) -> None:
    draws, gradients = RNG(0).normal(size=(4000, 3)), RNG(1).normal(size=(50, 3))

    reference = statistics.estimated_reference(draws, blocks=400)
    found = statistics.moments(gradients, reference)

    covariance = np.cov(gradients, rowvar=False) / 50 + reference.spread.T @ reference.spread
    difference = gradients.mean(0) - draws.mean(0)
    assert np.allclose(reference.gradient, draws.mean(0))
    assert np.allclose(np.diag(reference.spread.T @ reference.spread), 1.0 / 4000, rtol=0.3)
    assert np.isclose(found.bias_squared, difference @ difference - np.trace(covariance))
    assert np.isclose(found.bias_noise, np.sqrt(2.0 * np.trace(covariance @ covariance)))


@pytest.mark.parametrize("bias", [0.0, 0.2, 1.0])
def test_error_bars_cover_the_truth_about_as_often_as_they_say(statistics: ModuleType, bias: float) -> None:
    def distances(seed: int) -> tuple[float, float]:
        draws = RNG(seed).normal([bias, 0.0, 0.0, 0.0], [1.0, 2.0, 0.5, 1.0], size=(200, 4))
        found = statistics.moments(draws, statistics.exact_reference(np.zeros(4)))
        return (
            (found.bias_squared - bias**2) / found.bias_squared_error,
            (found.variance - 6.25) / found.variance_error,
        )

    scaled = np.array([distances(seed) for seed in range(400)])

    # Two standard errors hold 95 % of a normal; the squared bias is skewed when it is small.
    assert (np.abs(scaled) < 2.0).mean(0).min() > 0.88
    assert np.abs(scaled.mean(0)).max() < 0.25


def test_no_direction_no_cosine(statistics: ModuleType) -> None:
    found = statistics.moments(np.ones((3, 2)), statistics.exact_reference(np.zeros(2)))

    assert np.isnan(found.cosine)


def row(result: Any, name: str, error: float, **changes: Any) -> Any:
    values = {
        "name": name,
        "evaluations": 1.0,
        "bias": result.Interval(0.0, 0.01),
        "spread": result.Interval(error, 0.01),
        "error": result.Interval(error, 0.01),
        "cosine": 0.99,
        "biased": "no",
    }
    return result.Row(**(values | changes))


@pytest.fixture(scope="module")
def result(tf: ModuleType) -> ModuleType:
    return importlib.import_module("whygrad.training.sampling.comparison.result")


@pytest.fixture(scope="module")
def recommend(tf: ModuleType) -> Any:
    return importlib.import_module("whygrad.training.sampling.comparison.result").recommend


def test_the_smallest_error_is_recommended(result: ModuleType, recommend: Any) -> None:
    rows = [row(result, "one", 2.0), row(result, "two", 0.5)]

    assert recommend(rows, 1.0) == ("two", "it has the smallest error (one has 4 times it), and it is unbiased")


def test_among_equals_the_unbiased_one_is_recommended(result: ModuleType, recommend: Any) -> None:
    rows = [
        row(result, "one", 0.50, biased="yes"),
        row(result, "two", 0.51, biased="unseen"),
        row(result, "three", 0.52),
    ]

    name, reason = recommend(rows, 1.0)

    assert name == "three"
    assert reason == "its error cannot be distinguished from the smallest, that of one, and it is unbiased"


def test_among_equals_that_are_unbiased_the_cheaper_one_is_recommended(result: ModuleType, recommend: Any) -> None:
    assert recommend([row(result, "one", 0.50, evaluations=4.0), row(result, "two", 0.51)], 4.0)[0] == "two"


def test_a_biased_choice_says_from_where_on_it_is_overtaken(result: ModuleType, recommend: Any) -> None:
    biased = row(result, "soft", 0.5, biased="yes", bias=result.Interval(0.2, 0.01), spread=result.Interval(0.5, 0.01))
    unbiased = row(result, "score", 3.0, spread=result.Interval(3.0, 0.01))

    _, reason = recommend([biased, unbiased], 1.0)

    # 0.04 + 0.25 / n = 9 / n at n = 218.75
    assert reason.endswith("from about 220 evaluations a step on, score, which is unbiased, does better")


def test_an_estimator_without_a_usable_gradient_is_never_recommended(result: ModuleType, recommend: Any) -> None:
    cut = row(result, "cut", 0.1, trouble="no gradient: the path is cut")

    assert recommend([cut, row(result, "one", 9.0)], 1.0)[0] == "one"
    assert recommend([cut], 1.0) == (None, "no estimator gave a usable gradient")


def test_a_comparison_prints_as_a_table(result: ModuleType) -> None:
    comparison = result.Comparison(
        rows=(
            row(result, "score_function", 3.316, bias=result.Interval(0.0, 0.14), spread=result.Interval(6.63, 0.041)),
            row(result, "straight_through", 0.365, biased="yes", bias=result.Interval(0.174, 0.01), cosine=0.986),
            row(result, "rounded", 0.0, trouble="no gradient: the path is cut"),
        ),
        recommended="straight_through",
        reason="it has the smallest error",
        samples=2000,
        budget=4.0,
        reference="the exact gradient by enumeration",
        relative=True,
    )

    assert str(comparison) == TABLE
    assert repr(comparison) == TABLE
    assert comparison["straight_through"].cosine == 0.986


TABLE = """\
2000 estimates each, against the exact gradient by enumeration (% of its length); ± is one standard error;
error: root mean squared error with 4 evaluations of the loss

estimator           evaluations  biased        bias       spread        error                        cosine
score_function                1      no  0.0 ± 14.0  663.0 ± 4.1  331.6 ± 1.0                         0.990
straight_through *            1     yes  17.4 ± 1.0   36.5 ± 1.0   36.5 ± 1.0                         0.986
rounded                                                                        no gradient: the path is cut

recommended: straight_through: it has the smallest error"""
