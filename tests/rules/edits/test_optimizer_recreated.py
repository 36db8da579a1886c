from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import Recording
from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
from whygrad.graph.objects import Compiled


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
    assert found.message == "5 optimizers were made to train the same variables, one for every step"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_each_compiled_step_ran_once_though_it_was_traced_twice() -> None:
    assert codes(trained(4, seen=2, runs=1)) == ["WG604"]


def test_silent_when_each_optimizer_made_several_steps() -> None:
    assert codes(trained(4, seen=9)) == []
    assert codes(trained(4, seen=1, runs=8)) == []


def test_fires_when_a_loop_makes_an_optimizer_for_every_few_steps() -> None:
    found = one(trained(4, seen=2))

    assert found.message == "4 optimizers were made to train the same variables, one for every 2 steps"
    assert codes(trained(3, seen=2)) == []


def test_silent_when_the_optimizers_of_a_few_steps_are_those_of_a_plan() -> None:
    recording = trained(4, seen=2)
    updates = tuple(replace(u, made=at(i)) for i, u in enumerate(recording.updates, 1))

    assert codes(replace(recording, updates=updates)) == []


def test_silent_when_a_model_was_compiled_twice() -> None:
    assert codes(trained(2, seen=2, runs=1)) == []


def compiled_anew(replaced: int, *, set_back: WriterKind | None = None, at_step: int = 3, **last: object) -> Recording:
    """A model that was compiled at one place, each time with an optimizer of its own, and trained for an epoch."""
    g = GraphBuilder()
    w = g.variable("w")
    event = Compiled(
        model="model", where=at(4), has_loss=True, trainable=(w.id,), stateful=True, trained=True, epochs=1
    )
    for number in range(replaced + 1):
        g.event(replace(event, optimizer=number + 1, **last))  # type: ignore[arg-type]
    if set_back is None:
        return g.finish()
    write = Write(variable=w.id, kind=set_back, writer="", method="assign", steps=(Stretch(at_step, at_step),))
    return replace(g.finish(), ledger=Ledger(variables={w.id: "w"}, writes=(write,), steps=9))


def test_fires_when_a_model_is_compiled_for_every_epoch() -> None:
    found = one(compiled_anew(4))

    assert (found.code, found.certain) == ("WG604", True)
    assert found.message == (
        "`model` is compiled again for every round of training: 4 optimizers were thrown away with their moments"
    )
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_the_weights_were_set_before_the_training_only() -> None:
    assert codes(compiled_anew(4, set_back=WriterKind.RESTORE, at_step=0)) == ["WG604"]


def test_silent_when_a_model_is_compiled_a_second_time() -> None:
    assert codes(compiled_anew(1)) == []


def test_silent_when_the_weights_were_set_back_for_a_fresh_start() -> None:
    assert codes(compiled_anew(4, set_back=WriterKind.USER)) == []


def test_silent_when_each_compiling_begins_a_longer_phase() -> None:
    assert codes(compiled_anew(4, epochs=5)) == []


def test_silent_when_nothing_was_trained_in_between() -> None:
    assert codes(compiled_anew(4, trained=False, epochs=0)) == []


def test_silent_when_the_optimizers_keep_nothing() -> None:
    assert codes(compiled_anew(4, stateful=False)) == []


def test_silent_when_the_same_optimizer_is_compiled_again() -> None:
    recording = compiled_anew(4)
    events = tuple(replace(event, optimizer=1) for event in recording.events_of(Compiled))

    assert codes(replace(recording, events=events)) == []


def test_silent_when_other_layers_are_trained_in_turn() -> None:
    recording = compiled_anew(4)
    events = tuple(
        replace(event, trainable=event.trainable if number % 2 else ())
        for number, event in enumerate(recording.events_of(Compiled))
    )

    assert codes(replace(recording, events=events)) == []
