from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, notes, one
from whygrad.graph import Failure, OpKind, Recording, Variable
from whygrad.graph.objects import ListRead

FAILURE = Failure(type_name="ValueError", message="No gradients provided for any variable.")


def read(*later: Variable, held: tuple[Variable, ...] = ()) -> ListRead:
    """A list of a model that was not built, and what it had in the end."""
    return ListRead(
        owner="model",
        attribute="trainable_variables",
        where=at(3),
        held=tuple(each.id for each in held),
        later=tuple(each.id for each in later),
        built=False,
    )


def test_fires_when_the_short_list_was_used() -> None:
    g = GraphBuilder()
    g.event(replace(read(g.variable("a"), g.variable("b")), handed_on=True))
    found = one(g.finish())

    assert found.code == "WG202"
    assert found.message == (
        "`model.trainable_variables` was read before the model was built: it had 0 variables then and has 2 now"
    )
    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(3), "0 of 2 variables")
    assert found.variables == ("a", "b")


def test_fires_when_the_run_failed_afterwards() -> None:
    g = GraphBuilder()
    g.event(read(g.variable("a")))

    assert codes(g.finish(failure=FAILURE)) == ["WG202"]


def test_fires_when_the_loss_uses_the_model_and_nobody_asks_for_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(read(w))

    assert "WG202" in codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sums = [zeros(v) for v in model.trainable_variables]", ["WG202"]),
        ("optimizer.build(model.trainable_variables)", ["WG202"]),
        ("print(model.trainable_variables)", []),
    ],
)
def test_fires_when_the_list_is_gone_through_on_the_spot(tmp_path: Path, text: str, found: list[str]) -> None:
    g = GraphBuilder()
    g.event(replace(read(g.variable("a")), where=Script(tmp_path, text)["model.trainable_variables"]))
    recording = g.finish()

    assert codes(recording) + notes(recording) == (found or ["WG202"])
    assert codes(recording) == found


@pytest.mark.parametrize(("times", "writes", "found"), [(5, 0, ["WG202"]), (1, 0, []), (5, 2, [])])
def test_fires_when_the_kept_list_lacks_what_gradients_are_asked_for_in_vain(
    tmp_path: Path, times: int, writes: int, found: list[str]
) -> None:
    g = GraphBuilder()
    w = g.variable("w", writes=writes)
    script = Script(tmp_path, "parameters = model.trainable_variables")
    g.event(replace(read(w), where=script["model.trainable_variables"]))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), seen=times)) == found


def test_only_a_note_when_the_list_did_no_harm() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(read(w))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (w,)))

    assert (codes(recording), notes(recording)) == ([], ["WG202"])


def test_silent_when_the_list_was_complete() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(read(w, held=(w,)), handed_on=True))

    assert codes(g.finish(failure=FAILURE)) == []


def test_silent_when_the_model_never_got_variables() -> None:
    g = GraphBuilder()
    g.event(replace(read(), handed_on=True))

    assert codes(g.finish(failure=FAILURE)) == []


def test_only_a_note_when_the_model_is_used_outside_the_tape_only() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    g.event(read(w))
    with g.outside():
        g.op(OpKind.SMOOTH, (w,))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (other,)), sources=[other])

    assert (codes(recording), notes(recording)) == ([], ["WG202"])


def grown(*, asked: bool, used: bool = True) -> Recording:
    """A module made a variable after its list was read, and a loss may use it."""
    g = GraphBuilder()
    old, late = g.variable("old"), g.variable("late")
    g.event(replace(read(old, late, held=(old,)), built=True))
    loss = g.op(OpKind.SMOOTH, (old, late) if used else (old,))
    return g.finish(loss=loss, sources=[old, late] if asked else [old], where=at(8))


def test_fires_when_a_module_made_more_and_the_old_list_is_asked_for() -> None:
    found = one(grown(asked=False))

    assert found.code == "WG202"
    assert found.variables == ("late",)
    assert found.primary is not None
    assert found.primary.span == at(3)
    assert [label.span for label in found.related] == [at(8)]


def test_silent_when_what_a_module_made_later_is_asked_for_too() -> None:
    assert codes(grown(asked=True)) == []


def test_silent_when_the_loss_does_not_use_what_the_module_made_later() -> None:
    assert codes(grown(asked=False, used=False)) == []
