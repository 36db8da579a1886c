from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, loud, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind, Pairing, Recording


def test_fires_as_likely_when_a_variable_is_overwritten_between_gradient_and_update() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.update([(w, w)], where=at(9))
    recording = g.finish()
    [update] = recording.updates
    pair = Pairing(variable=w.id, gradient_of=frozenset({w.id}), overwritten=at(8))
    found = one(replace(recording, updates=(replace(update, pairs=(pair,)),)))

    assert (found.code, found.severity, found.certain) == ("WG601", Severity.WARNING, False)
    assert found.primary is not None
    assert found.primary.span == at(8)


def test_silent_when_nothing_was_written_between() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.update([(w, w)], where=at(9))

    assert codes(g.finish()) == []


def perturbed(*, names: str, lines: tuple[int, ...], before: bool = False) -> Recording:
    """Variables that a loss reads, and that are written at these lines after it, or before."""
    g = GraphBuilder()
    made = [g.variable(name) for name in names]

    def write() -> None:
        for variable, line in zip(made, lines, strict=True):
            g.write(variable, g.constant(), where=at(line))

    if before:
        write()
    loss = g.op(OpKind.SMOOTH, made)
    if not before:
        write()
    return g.finish(loss=loss, where=at(9))


def test_fires_once_when_one_line_writes_many_and_names_them_all() -> None:
    found = one(perturbed(names="abc", lines=(7, 7, 7)))

    assert (found.code, found.variables) == ("WG601", ("a", "b", "c"))
    assert found.message.startswith("`a`, `b` and 1 more are changed by this line between the forward pass and their")


def test_fires_for_each_line_that_writes() -> None:
    found = loud(perturbed(names="ab", lines=(6, 7)))

    assert [each.variables for each in found] == [("a",), ("b",)]


def test_names_all_when_two_requests_show_what_one_line_writes() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    losses = g.op(OpKind.SMOOTH, (a,)), g.op(OpKind.SMOOTH, (b,))
    for variable in (a, b):
        g.write(variable, g.constant(), where=at(7))
    for variable, loss in zip((a, b), losses, strict=True):
        g.request(loss, [variable], where=at(9))

    assert one(g.finish()).variables == ("a", "b")


def test_silent_when_all_is_written_before_the_forward_pass() -> None:
    assert codes(perturbed(names="ab", lines=(3, 3), before=True)) == []
