from __future__ import annotations

from dataclasses import replace

from rules.diagnosis import at, codes, one
from whygrad.graph import Recording
from whygrad.graph.build import GraphBuilder


def trained(optimizers: int, *, seen: int = 1, runs: int | None = None) -> Recording:
    """So many optimizers with moments, each used at one place."""
    g = GraphBuilder()
    w = g.variable("w")
    for number in range(1, optimizers + 1):
        g.update([(w, w)], where=at(9), optimizer_id=number, seen=seen)
    recording = g.finish()
    return replace(
        recording, updates=tuple(replace(u, stateful=True, made=at(4), runs=runs) for u in recording.updates)
    )


def test_fires_when_each_step_has_an_optimizer_of_its_own() -> None:
    found = one(trained(5))

    assert found.code == "WG604"
    assert found.message == "5 optimizers were made to train the same variables, one for each step"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_each_compiled_step_ran_once_though_it_was_traced_twice() -> None:
    assert codes(trained(4, seen=2, runs=1)) == ["WG604"]


def test_silent_when_each_optimizer_made_several_steps() -> None:
    assert codes(trained(4, seen=8)) == []
    assert codes(trained(4, seen=1, runs=8)) == []


def test_silent_when_a_model_was_compiled_twice() -> None:
    assert codes(trained(2, seen=2, runs=1)) == []
