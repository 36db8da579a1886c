from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Pairing


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
