from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import FailureKind
from whygrad.graph.objects import Compiled, Trained


def trained(raised: FailureKind | None = None) -> Trained:
    return Trained(model="model", where=at(9), trainable=(), frozen=(), raised=raised)


def test_fires_when_training_found_no_loss() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=False))
    g.event(trained(FailureKind.NO_LOSS))
    found = one(g.finish())

    assert found.code == "WG701"
    assert found.message == "`model` is trained without a loss"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_silent_when_the_model_has_a_loss() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=True))
    g.event(trained())

    assert codes(g.finish()) == []


def test_silent_when_the_model_brings_its_own_training_step() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=False))
    g.event(trained())

    assert codes(g.finish()) == []


def test_silent_when_the_model_is_compiled_for_prediction_only() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=False))

    assert codes(g.finish()) == []


def test_silent_when_training_failed_for_another_reason() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=False))
    g.event(trained(FailureKind.SPARSE_AS_DENSE))

    assert codes(g.finish()) == []


def test_silent_when_the_model_was_compiled_again_with_a_loss() -> None:
    g = GraphBuilder()
    g.event(Compiled(model="model", where=at(4), has_loss=False))
    g.event(trained(FailureKind.NO_LOSS))
    g.event(Compiled(model="model", where=at(12), has_loss=True))

    assert codes(g.finish()) == []
