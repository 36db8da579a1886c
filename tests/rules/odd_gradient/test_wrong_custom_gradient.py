from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, diagnostics, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind, Recording
from whygrad.graph.event import CustomGradient, Probe

PAIRS = ((0.5, 1.0), (2.0, 3.0), (-1.0, 4.0))  # stated, measured


def tried(*pairs: tuple[float, float], straight: bool = False, **facts: Any) -> Recording:
    probes = tuple(Probe(argument=0, value=0.3, stated=s, measured=m, straight=straight) for s, m in pairs)
    event = CustomGradient(function="cube", where=at(4), probes=probes, **facts)
    return replace(GraphBuilder().finish(), events=(event,))


def test_fires_with_both_numbers_when_the_formula_is_another() -> None:
    found = one(tried(*PAIRS, factors=(3.0,)))

    assert (found.code, found.severity, found.certain) == ("WG310", Severity.ERROR, True)
    assert found.message == (
        "the custom gradient of `cube` is not the derivative of the function: it gives -1, the function has 4"
    )
    assert found.primary is not None
    assert found.primary.span == at(4)


@pytest.mark.parametrize("ratio", [0.5, -1.0])
def test_fires_when_a_factor_is_missing_that_the_formula_does_not_have(ratio: float) -> None:
    assert codes(tried((ratio, 1.0), (ratio * 3, 3.0), factors=(3.0,))) == ["WG310"]


@pytest.mark.parametrize(
    "meant",
    [
        tried((-0.1, 1.0), (-0.3, 3.0), factors=(2.0, 0.1, -1.0)),
        tried(*PAIRS, bounded=True),
        tried((0.5, 1.0), (1.5, 3.0), straight=True),
    ],
    ids=["scaled by its constants", "clipped", "a straight line"],
)
def test_is_a_note_when_it_may_be_meant(meant: Recording) -> None:
    [found] = diagnostics(meant)

    assert (found.code, found.severity) == ("WG310", Severity.NOTE)


def test_likely_when_the_slopes_of_a_straight_line_are_off_by_different_factors() -> None:
    found = one(tried((0.5, 1.0), (3.0, 3.0), (1.0, 4.0), straight=True))

    assert (found.code, found.severity, found.certain) == ("WG310", Severity.WARNING, False)


@pytest.mark.parametrize(
    "pairs",
    [
        ((1.0, 1.02), (2.0, 2.1)),
        ((1.0, 0.0), (1.0, 1e-5)),
        ((0.0, 1.0),),
        ((1.0, 1.0), (2.0, 2.0), (3.0, 9.0)),
        (),
    ],
    ids=["equal up to rounding", "flat", "masked", "one element of several", "not tried"],
)
def test_silent_when_the_formula_is_right_or_plainly_a_surrogate(pairs: tuple[tuple[float, float], ...]) -> None:
    assert not diagnostics(tried(*pairs))


def test_fires_when_the_gradient_that_comes_in_is_left_out_even_of_a_flat_function() -> None:
    found = one(tried((1.0, 0.0), (1.0, 0.0), ignores_upstream=True))

    assert (found.code, found.severity) == ("WG310", Severity.ERROR)
    assert "leaves out the gradient that comes in" in found.message


def test_silent_on_a_flat_function_with_a_gradient_of_its_own() -> None:
    assert codes(tried((1.0, 0.0), (1.0, 0.0))) == []


def test_one_formula_that_is_wrong_for_two_arguments_is_told_once_with_the_variables_behind_it() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    cube = g.op(OpKind.CUSTOM, (w,), custom="cube")
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (cube, other)))
    probes = [Probe(argument=n, value=0.3, stated=s, measured=m, straight=False) for n in (0, 1) for s, m in PAIRS]
    event = CustomGradient(function="cube", where=at(4), probes=tuple(probes))

    assert one(replace(recording, events=(event,))).variables == ("w",)
