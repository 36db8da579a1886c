from __future__ import annotations

from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind, Variable
from whygrad.graph.build import GraphBuilder
from whygrad.graph.event import Multiplied, SharedCalls


def shared(*variables: Variable) -> SharedCalls:
    return SharedCalls(
        names=("target", "network"),
        assigned=at(3),
        places=(at(5), at(7)),
        variables=tuple(variable.id for variable in variables),
    )


def test_fires_when_one_loss_uses_the_network_with_and_without_a_gradient() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,), where=at(5))
    loss = g.op(OpKind.SMOOTH, (w, backup), where=at(7))
    g.event(shared(w))
    found = one(g.finish(loss=loss))

    assert (found.code, found.severity, found.certain) == ("WG209", Severity.WARNING, False)
    assert found.message == "`target` and `network` are likely meant to be two networks, but are one"
    assert found.primary is not None
    assert found.primary.span == at(3)
    assert [label.span for label in found.related] == [at(5), at(7)]


def test_fires_when_the_second_use_is_stopped() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (w, g.op(OpKind.STOP, (w,))))
    g.event(shared(w))

    assert codes(g.finish(loss=loss)) == ["WG209"]


def test_silent_when_both_uses_carry_a_gradient() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(shared(w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, w)))) == []


def test_silent_when_the_two_names_meet_in_no_loss() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    with g.outside():
        g.op(OpKind.SMOOTH, (w,))
    g.event(shared(w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (other,)), sources=[other])) == []


def test_silent_when_the_network_is_not_trained_by_that_loss() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,))
    g.event(shared(w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (other, backup)), sources=[other])) == []


def test_silent_when_nothing_was_assigned_to_a_second_name() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, backup)))) == []


def test_fires_once_for_a_list_that_repeats_what_it_holds() -> None:
    g = GraphBuilder()
    kernel, bias = g.variable("block/kernel"), g.variable("block/bias")
    g.event(Multiplied(name="block", where=at(4), variables=(kernel.id, bias.id)))
    g.event(Multiplied(name="block", where=at(4), variables=(kernel.id,)))
    found = one(g.finish())

    assert (found.code, found.certain) == ("WG209", False)
    assert found.variables == ("block/kernel", "block/bias")
    assert found.primary is not None
    assert found.primary.span == at(4)
