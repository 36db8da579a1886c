from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind, Pairing, Recording


def test_fires_when_two_variables_get_each_other_s_gradient() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, b), (b, a)], where=at(7), seen=20)
    found = one(g.finish())

    assert found.code == "WG206"
    assert found.message == "`a` and `b` updated by the gradient of another variable: `a` by that of `b`"
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(7), "2 of 2 pairs are crossed")
    assert found.steps.seen == 20


def test_fires_when_a_list_is_shifted_by_one() -> None:
    g = GraphBuilder()
    a, b, c = g.variable("a"), g.variable("b"), g.variable("c")
    g.update([(a, a), (b, c), (c, b)], where=at(7))

    assert one(g.finish()).variables == ("b", "c")


def test_fires_when_updates_by_hand_are_crossed() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, b)], optimizer="AssignSub", optimizer_id=0, where=at(7))
    g.update([(b, a)], optimizer="AssignSub", optimizer_id=0, where=at(7))

    assert codes(g.finish()) == ["WG206"]


def test_fires_as_likely_when_one_network_s_gradients_move_another() -> None:
    g = GraphBuilder()
    generator, critic = g.variable("generator"), g.variable("critic")
    g.request(g.op(OpKind.SMOOTH, (generator, critic)), [generator], where=at(5))
    g.request(g.op(OpKind.SMOOTH, (critic,)), [critic], where=at(6))
    g.update([(critic, generator)], where=at(7))
    found = one(g.finish())

    assert (found.code, found.severity, found.certain) == ("WG206", Severity.WARNING, False)
    assert found.message == (
        "`critic` likely updated by mistake: by the gradients of `generator`, which nothing updates"
    )


def networks(*, moved: bool = False, writes: int = 0) -> Recording:
    """The gradients of one network move another one, which has gradients of its own."""
    g = GraphBuilder()
    worker, shared = g.variable("worker", writes=writes), g.variable("shared")
    g.request(g.op(OpKind.SMOOTH, (worker,)), [worker], where=at(5))
    g.request(g.op(OpKind.SMOOTH, (shared,)), [shared], where=at(6))
    g.update([(shared, worker)], where=at(7))
    if moved:
        g.update([(worker, worker)], where=at(8))
    return g.finish()


def test_likely_when_the_gradients_of_one_network_move_two_and_those_of_the_other_none() -> None:
    found = one(networks(moved=True))

    assert (found.code, found.certain) == ("WG206", False)
    assert found.message == (
        "`shared` likely updated by mistake: by the gradients of `worker`, while its own gradients are not used"
    )


def test_silent_when_the_worker_is_kept_up_to_date_by_hand() -> None:
    assert codes(networks(writes=2)) == []


def test_silent_when_each_gets_its_own() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(b, b), (a, a)])

    assert codes(g.finish()) == []


def test_silent_when_a_gradient_is_a_mixture_that_holds_its_own() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    both = frozenset({a.id, b.id})
    g.update([Pairing(variable=a.id, gradient_of=both), Pairing(variable=b.id, gradient_of=both)])

    assert "WG206" not in codes(g.finish())


def test_silent_when_the_origin_is_not_known() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([Pairing(variable=a.id, gradient_of=None), (b, b)])

    assert codes(g.finish()) == []


def test_silent_when_a_worker_s_gradients_move_a_shared_copy() -> None:
    g = GraphBuilder()
    worker, shared = g.variable("worker"), g.variable("shared")
    g.request(g.op(OpKind.SMOOTH, (worker,)), [worker], where=at(6))
    g.update([(shared, worker)], where=at(7))

    assert codes(g.finish()) == []


def test_silent_when_a_gradient_is_missing() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, None), (b, b)])

    assert codes(g.finish()) == []


def test_updates_by_hand_at_two_places_are_two() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, b)], optimizer="AssignSub", optimizer_id=0, where=at(7))
    g.update([(b, a)], optimizer="AssignSub", optimizer_id=0, where=at(8))

    assert codes(g.finish()) == []


@pytest.mark.parametrize(("beside", "expected"), [(True, ["WG206"]), (False, [])])
def test_fires_as_likely_when_what_is_moved_took_part_in_the_same_pass(beside: bool, expected: list[str]) -> None:
    g = GraphBuilder()
    first, second = g.variable("first"), g.variable("second")
    g.update([(first, first)], where=at(7))
    g.update([Pairing(variable=second.id, gradient_of=frozenset({first.id}), beside=beside)], where=at(8))

    assert codes(g.finish()) == expected
