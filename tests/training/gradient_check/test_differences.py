"""Derivatives along a line against functions whose derivatives are known. No framework."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from whygrad.training.gradient_check.differences import Tolerance, Verdict, compare

TOLERANCE = Tolerance(relative=1e-6, absolute=1e-9, step=1e-4, noise=1e-16)
SLOPES = st.floats(-50.0, 50.0)


@given(a=SLOPES, b=SLOPES, c=SLOPES)
def test_the_slope_of_a_cubic_agrees_and_no_other_does(a: float, b: float, c: float) -> None:
    def line(t: float) -> float:
        return a * t + b * t * t + c * t**3

    assert compare(a, line, TOLERANCE).verdict is Verdict.AGREES
    assert compare(a + 0.01 * (1 + abs(a)), line, TOLERANCE).verdict is Verdict.WRONG


@given(left=SLOPES, right=SLOPES, share=st.floats(0.0, 1.0), beyond=st.floats(0.1, 5.0))
def test_any_slope_between_the_two_of_a_kink_will_do(left: float, right: float, share: float, beyond: float) -> None:
    def line(t: float) -> float:
        return (right if t > 0 else left) * t

    between = left + share * (right - left)

    assert compare(between, line, TOLERANCE).verdict in (Verdict.KINK, Verdict.AGREES)
    assert compare(max(left, right) + beyond, line, TOLERANCE).verdict is Verdict.WRONG
    assert compare(min(left, right) - beyond, line, TOLERANCE).verdict is Verdict.WRONG


@given(slope=SLOPES, distance=st.floats(1e-6, 1e-4))
def test_a_kink_beside_the_point_is_looked_around(slope: float, distance: float) -> None:
    def line(t: float) -> float:
        return slope * t + 30.0 * max(0.0, t - distance)

    assert compare(slope, line, TOLERANCE).verdict in (Verdict.AGREES, Verdict.KINK)


def test_what_is_not_finite_is_told() -> None:
    assert compare(math.nan, lambda t: t, TOLERANCE).verdict is Verdict.NOT_FINITE
    assert compare(1.0, lambda t: math.nan, TOLERANCE).verdict is Verdict.UNDEFINED


def test_one_side_is_enough_at_the_edge_of_where_there_are_values() -> None:
    def line(t: float) -> float:
        return math.nan if t < 0 else 2.0 * t

    assert compare(2.0, line, TOLERANCE).verdict is Verdict.AGREES
