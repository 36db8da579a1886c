"""Derivatives along a line, from values of the function alone. NumPy only."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Line = Callable[[float], float]  # the function's value at a distance along a line

REFINED: Final = (4.0, 1.0, 0.25, 1 / 16, 1 / 64)  # steps that are tried where the first answer disagrees
CERTAIN: Final = 4.0  # times the noise
PERSISTS: Final = 0.6  # a jump between the two slopes that stays when the step shrinks to a quarter


class Verdict(enum.Enum):
    """What became of the comparison of one derivative."""

    AGREES = "agrees"
    WRONG = "wrong"
    KINK = "kink"  # the slopes on both sides differ, and the gradient is between them
    NOT_FINITE = "not finite"  # the gradient is NaN or Inf
    UNDEFINED = "undefined"  # the function has no finite values around here


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`step` is the distance to begin with, `noise` the size of the rounding errors of the function's values."""

    relative: float
    absolute: float
    step: float
    noise: float

    def between(self, analytic: float, numeric: float, step: float) -> float:
        """How far the two may be apart."""
        rounding = CERTAIN * self.noise / step
        return self.absolute + self.relative * max(abs(analytic), abs(numeric)) + rounding


@dataclass(frozen=True, slots=True)
class Comparison:
    verdict: Verdict
    numeric: float


def compare(analytic: float, line: Line, tolerance: Tolerance, exact: float | None = None) -> Comparison:
    """Compare a derivative with what the values say; `exact` is a numeric one that needs no step."""
    numeric = _extrapolated(line, tolerance.step) if exact is None else exact
    if not math.isfinite(analytic):
        return Comparison(Verdict.NOT_FINITE, numeric)
    if exact is not None:
        allowed = tolerance.absolute + tolerance.relative * max(abs(analytic), abs(exact))
        return Comparison(Verdict.AGREES if abs(analytic - exact) <= allowed else Verdict.WRONG, exact)
    if math.isfinite(numeric):
        if abs(analytic - numeric) <= tolerance.between(analytic, numeric, tolerance.step / 2):
            return Comparison(Verdict.AGREES, numeric)
        for factor in REFINED:
            if _agrees_at(analytic, numeric, line, tolerance, tolerance.step * factor):
                return Comparison(Verdict.AGREES, numeric)
    return _one_sided(analytic, numeric, line, tolerance)


def central(line: Line, step: float) -> float:
    return (line(step) - line(-step)) / (2 * step)


def _extrapolated(line: Line, step: float) -> float:
    """From two central differences, with the error that goes with the square of the step taken out."""
    return (4 * central(line, step / 2) - central(line, step)) / 3


def _agrees_at(analytic: float, first: float, line: Line, tolerance: Tolerance, step: float) -> bool:
    """At another step, if that one can tell the two answers apart at all."""
    if CERTAIN * tolerance.noise / step > abs(analytic - first) / 2:
        return False
    numeric = central(line, step)
    return math.isfinite(numeric) and abs(analytic - numeric) <= tolerance.between(analytic, numeric, step)


def _one_sided(analytic: float, numeric: float, line: Line, tolerance: Tolerance) -> Comparison:
    """Where both sides have a slope of their own, any number between the two is a gradient."""
    step = tolerance.step
    right, left = _slope(line, step), _slope(line, -step)
    near_right, near_left = _slope(line, step / 4), _slope(line, -step / 4)
    defined = [slope for slope in (near_left, near_right) if math.isfinite(slope)]
    if not defined:
        return Comparison(Verdict.UNDEFINED, numeric)
    if len(defined) == 1:  # the edge of where the function has values
        allowed = tolerance.between(analytic, defined[0], step / 4) + abs(defined[0]) * 0.1
        agrees = abs(analytic - defined[0]) <= allowed
        return Comparison(Verdict.AGREES if agrees else Verdict.UNDEFINED, defined[0])
    jump, near_jump = abs(right - left), abs(near_right - near_left)
    is_kink = near_jump > PERSISTS * jump and near_jump > CERTAIN * tolerance.noise / (step / 4)
    slack = tolerance.between(analytic, numeric, step / 4)
    inside = min(near_left, near_right) - slack <= analytic <= max(near_left, near_right) + slack
    return Comparison(Verdict.KINK if is_kink and inside else Verdict.WRONG, numeric)


def _slope(line: Line, step: float) -> float:
    return (line(step) - line(0.0)) / step
