from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Pairing


def test_fires_when_a_variable_is_in_one_update_twice() -> None:
    g = GraphBuilder()
    shared, a, b = g.variable("shared"), g.variable("a"), g.variable("b")
    g.update([(shared, shared), (a, a), (shared, shared), (b, b)], where=at(7), seen=20)
    found = one(g.finish())

    assert found.code == "WG210"
    assert found.message == "`shared` is in the list of one update 2 times, and is updated as often"
    assert found.primary is not None
    assert found.primary.span == at(7)
    assert (found.variables, found.steps.seen) == (("shared",), 20)


def test_silent_when_two_updates_move_a_variable_once_each() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.update([(w, w)], where=at(7))
    g.update([(w, w)], where=at(8), optimizer_id=2)

    assert codes(g.finish()) == []


def test_silent_when_a_variable_is_written_by_hand_more_than_once() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.update([(w, w), (w, w)], optimizer="AssignSub", optimizer_id=0, where=at(7))

    assert codes(g.finish()) == []


def test_likely_when_two_optimizers_apply_the_gradient_of_one_loss() -> None:
    g = GraphBuilder()
    slow, both = g.variable("slow"), g.variable("both")
    g.update([(slow, slow), (both, both)], where=at(7))
    again = Pairing(variable=both.id, gradient_of=frozenset({both.id}), moved=at(7))
    g.update([again], where=at(8), optimizer_id=2)
    found = one(g.finish())

    assert (found.code, found.severity, found.certain) == ("WG210", Severity.WARNING, False)
    assert found.message.startswith("`both` is likely in the groups of two optimizers by mistake")
    assert found.primary is not None
    assert (found.primary.span, found.variables) == (at(8), ("both",))
    assert [label.span for label in found.related] == [at(7)]
