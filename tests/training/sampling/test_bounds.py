"""The yardstick of the unbiasedness tests, tried on distributions whose mean is known."""

from __future__ import annotations

import numpy as np
import pytest

from training.sampling.bounds import excess


@pytest.mark.parametrize("seed", range(20))
def test_draws_with_the_right_mean_pass(seed: int) -> None:
    draws = np.random.default_rng(seed).uniform(-1.0, 3.0, size=(2_000, 5))

    assert excess(draws, np.ones(5), width=8.0) < 1.0


def test_a_mean_that_is_off_by_a_twentieth_of_the_spread_is_caught() -> None:
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200_000, 1))

    assert excess(draws, np.full(1, 0.05 * draws.std()), width=4.0) > 1.0


def test_a_width_that_does_not_hold_is_an_error() -> None:
    with pytest.raises(AssertionError, match="does not cover"):
        excess(np.ones((10, 1)), np.ones(1), width=1.0)
