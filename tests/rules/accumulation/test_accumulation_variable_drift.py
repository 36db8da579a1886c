from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import Pairing, Variable
from whygrad.source import SourceSpan


def summed(moved: Variable, *of: Variable, mixed: SourceSpan | None = None, requests: int = 4) -> Pairing:
    """The sum of the gradients of some variables, applied to one."""
    numbers = frozenset(each.id for each in of)
    return Pairing(variable=moved.id, gradient_of=numbers, mixed=mixed, summed=at(6), requests=requests)


def test_fires_where_the_gradient_of_another_variable_is_added() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([summed(a, a, b, mixed=at(6)), summed(b, b)], where=at(8))
    found = one(g.finish())

    assert found.code == "WG503"
    assert found.message == "gradients of different variables are added up in one accumulator: `a` and `b`"
    assert found.primary is not None
    assert (found.primary.span, [label.span for label in found.related]) == (at(6), [at(8)])


def test_fires_once_and_names_all_that_one_line_mixes_in_whatever_accumulator_and_update() -> None:
    g = GraphBuilder()
    a, b, c = (g.variable(name) for name in "abc")
    g.update([summed(a, a, b, mixed=at(6)), summed(b, b, a, mixed=at(6))], where=at(8), seen=2)
    g.update([summed(b, b, c, mixed=at(6))], where=at(8))
    found = one(g.finish())

    assert found.variables == ("a", "b", "c")
    assert "in the same accumulators" in found.message
    assert (found.steps.seen, found.steps.of) == (3, 3)


def test_silent_when_each_accumulator_holds_the_gradients_of_one_variable() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([summed(a, a), summed(b, b)], where=at(8))

    assert codes(g.finish()) == []


def test_silent_when_the_gradients_of_several_networks_are_averaged_for_another_one() -> None:
    g = GraphBuilder()
    a, b, mean = (g.variable(name) for name in ("a", "b", "mean"))
    g.update([summed(mean, a, b, mixed=at(6))], where=at(8))

    assert "WG503" not in codes(g.finish())
