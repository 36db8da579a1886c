"""What is said of gradients that were added up, by how much each of them counts."""

from __future__ import annotations

from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Steps
from whygrad.graph import Pairing, Recording


def applied(*, averages: int = 1, **facts: Any) -> Recording:
    g = GraphBuilder()
    w = g.variable("w")
    pair = Pairing(variable=w.id, gradient_of=frozenset({w.id}), **{"mean": True, **facts})
    g.update([pair], where=at(9), averages=averages)
    return g.finish()


def test_fires_when_the_means_of_micro_batches_are_only_added_up() -> None:
    found = one(applied(requests=4, scale=1.0))

    assert (found.code, found.certain) == ("WG501", False)
    assert found.primary is not None
    assert found.primary.span == at(9)


def test_says_once_what_updates_on_one_line_have_in_common() -> None:
    g = GraphBuilder()
    w, b = g.variable("w"), g.variable("b")
    summed = [
        Pairing(variable=each.id, gradient_of=frozenset({each.id}), mean=True, requests=4, scale=1.0) for each in (w, b)
    ]
    g.update(summed[:1], where=at(9), seen=3)
    g.update(summed, where=at(9))
    found = one(g.finish())

    assert found.variables == ("w", "b")
    assert found.steps == Steps(4, 4)


def test_fires_when_each_loss_and_the_sum_are_divided() -> None:
    assert codes(applied(requests=4, scale=1 / 16)) == ["WG507"]


def test_shows_the_second_division_and_the_first_beside_it() -> None:
    found = one(applied(requests=4, scale=1 / 16, divided=at(7), loss_divided=at(3)))

    assert found.primary is not None
    assert found.primary.span == at(7)
    assert [label.span for label in found.related] == [at(3), at(9)]


def test_fires_when_the_user_divides_by_what_the_optimizer_divides_by() -> None:
    found = one(applied(scale=0.25, averages=4))

    assert found.code == "WG507"
    assert found.help is not None
    assert "gradient_accumulation_steps" in found.help


def test_shows_the_division_that_the_optimizer_does_once_more() -> None:
    found = one(applied(scale=0.25, averages=4, loss_divided=at(3)))

    assert found.primary is not None
    assert [found.primary.span, *(label.span for label in found.related)] == [at(3), at(9)]


def test_fires_when_an_accumulator_is_never_set_back() -> None:
    assert codes(applied(requests=4, scale=0.25, stale=True)) == ["WG502"]


@pytest.mark.parametrize("beside", [3, 4])
def test_says_whose_sums_of_the_same_place_are_set_back_where_others_are_not(beside: int) -> None:
    g = GraphBuilder()
    for name, line, stale in (("w", 3, True), ("b", beside, False)):
        variable = g.variable(name).id
        facts = {"mean": True, "requests": 4, "scale": 0.25, "summed": at(line), "stale": stale}
        g.update([Pairing(variable=variable, gradient_of=frozenset({variable}), **facts)], where=at(9))
    found = one(g.finish())

    assert found.variables == ("w",)
    assert ["`b` is set back" in note for note in found.notes] == ([True] if beside == 3 else [])


@pytest.mark.parametrize(
    "facts",
    [
        {"requests": 4, "scale": 0.25},
        {"requests": 4, "scale": None},
        {"requests": 4, "scale": 1.0, "mean": False},
        {"requests": 4, "scale": 1.0, "compiled": True},
        {"requests": 4, "scale": 1.0, "same_place": False},
        {"scale": 1.0, "averages": 4},
        {"scale": 0.5, "averages": 4},
        {"scale": 0.25, "averages": 4, "mean": False},
        {"scale": 0.25},
    ],
)
def test_silent_when_each_counts_as_it_should_or_nobody_knows(facts: dict[str, Any]) -> None:
    assert codes(applied(**facts)) == []


def test_old_gradients_of_uneven_weight_are_reported_unless_they_were_weighed_again() -> None:
    assert codes(applied(requests=6, scale=None, stale=True)) == ["WG502"]
    assert codes(applied(requests=6, scale=None, stale=True, aged=True)) == []


def test_gradients_left_by_another_update_are_shown_at_the_one_that_left_them() -> None:
    found = one(applied(requests=4, scale=0.25, stale=True, summed=at(3), applied=at(6)))

    assert found.code == "WG502"
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(6), "applied here, and not set back")
    assert [label.span for label in found.related] == [at(9), at(3)]


def test_gradients_that_the_same_line_applies_again_are_shown_there() -> None:
    found = one(applied(requests=4, scale=0.25, stale=True, summed=at(3), applied=at(9)))

    assert found.primary is not None
    assert found.primary.span == at(9)
    assert [label.span for label in found.related] == [at(3)]
