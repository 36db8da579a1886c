from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, diagnostics, notes
from whygrad.graph import Ledger, Recording
from whygrad.graph.ledger import Stretch, Write, WriterKind


def watched(second: WriterKind, *steps: Stretch) -> Recording:
    """An optimizer writes `w` at steps 1 to 100, somebody else at the given ones."""
    g = GraphBuilder()
    w = g.variable("w")
    first = Write(
        variable=w.id, kind=WriterKind.OPTIMIZER, writer="sgd", method="assign_sub", count=100, steps=(Stretch(1, 100),)
    )
    other = Write(variable=w.id, kind=second, writer="", method="assign", where=at(9), count=len(steps), steps=steps)
    return replace(g.finish(), ledger=Ledger({w.id: "w"}, (first, other), steps=100))


def test_notes_a_second_writer_in_every_step() -> None:
    recording = watched(WriterKind.USER, Stretch(1, 100))
    [found] = diagnostics(recording)

    assert found.code == "WG605"
    assert found.message == "`w` is written by this line and by the optimizer, step after step"
    assert found.primary is not None
    assert found.primary.span == at(9)
    assert codes(recording) == []


def test_notes_a_second_writer_every_few_steps() -> None:
    assert notes(watched(WriterKind.USER, Stretch(10, 100, 10))) == ["WG605"]


def test_silent_about_planned_edits_and_files() -> None:
    for kind in (WriterKind.EDIT, WriterKind.RESTORE, WriterKind.LAYER):
        assert notes(watched(kind, Stretch(1, 100))) == []


def test_silent_about_what_is_written_before_or_once() -> None:
    assert notes(watched(WriterKind.USER, Stretch(0, 0))) == []
    assert notes(watched(WriterKind.USER, Stretch(17, 17))) == []


def test_silent_when_the_second_writer_comes_after_training() -> None:
    assert notes(watched(WriterKind.USER, Stretch(101, 120))) == []
