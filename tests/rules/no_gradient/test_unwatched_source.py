from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import OpKind


def test_fires_when_a_tensor_was_never_watched(tmp_path: Path) -> None:
    script = Script(tmp_path, "slope = tape.gradient(loss, x)")
    g = GraphBuilder()
    x = g.constant()
    loss = g.op(OpKind.SMOOTH, (x,))
    found = one(g.finish(loss=loss, sources=[x], missing=[x], where=script["tape.gradient(loss, x)"]))

    assert found.code == "WG108"
    assert found.message == "no gradient reaches `x`: the tape was not watching it"
    assert found.help == "call `tape.watch(x)` before the first op that uses it"
    assert found.primary is not None
    assert found.primary.span == script["tape.gradient(loss, x)"]


def test_fires_at_the_first_use_when_watch_came_late() -> None:
    g = GraphBuilder()
    x = g.constant()
    loss = g.op(OpKind.SMOOTH, (x,), where=at(3))
    g.watch(x)
    found = one(g.finish(loss=loss, sources=[x], missing=[x]))

    assert found.code == "WG108"
    assert found.message.endswith("the tape began to watch it only after it was used")
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_fires_at_the_first_use_of_what_a_function_captured() -> None:
    """The ops of the function take a stand-in; that it stands for the tensor is known only afterwards."""
    g = GraphBuilder()
    x, inside = g.constant(), g.constant()
    loss = g.op(OpKind.SMOOTH, (inside,), where=at(3))
    g.watch(x)
    g.op(OpKind.MOVE, (x,), into=inside)
    found = one(g.finish(loss=loss, sources=[x], missing=[x]))

    assert found.primary is not None
    assert (found.code, found.primary.span) == ("WG108", at(3))


def test_fires_when_the_only_variable_asked_for_is_not_trainable() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[w])) == ["WG108"]


def test_fires_when_the_tape_watches_no_variables_by_itself() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.tape(watches_variables=False) as tape:
        loss = g.op(OpKind.SMOOTH, (w,))
    g.request(loss, tape=tape, missing=[w])

    assert codes(g.finish()) == ["WG108"]


def test_names_the_tensor_that_is_meant_and_not_the_whole_list(tmp_path: Path) -> None:
    script = Script(tmp_path, "slopes = tape.gradient(loss, [x, y])")
    g = GraphBuilder()
    x, y = g.constant(), g.constant()
    g.watch(x)
    loss = g.op(OpKind.SMOOTH, (x, y))
    found = one(g.finish(loss=loss, sources=[x, y], missing=[y], where=script["tape.gradient(loss, [x, y])"]))

    assert found.message == "no gradient reaches `y`: the tape was not watching it"
    assert found.help == "call `tape.watch(y)` before the first op that uses it"


def test_help_reads_well_when_the_source_cannot_be_named() -> None:
    g = GraphBuilder()
    x = g.constant()
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (x,)), sources=[x], missing=[x]))

    assert found.message == "no gradient reaches the source tensor: the tape was not watching it"
    assert found.help == "call `tape.watch(...)` on it before the first op that uses it"


def test_silent_when_watched_in_time() -> None:
    g = GraphBuilder()
    x = g.constant()
    g.watch(x)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (x,)), sources=[x])) == []


def test_silent_when_the_tensor_is_made_from_what_the_tape_watches() -> None:
    g = GraphBuilder()
    hidden = g.op(OpKind.SMOOTH, (g.variable("w"),))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (hidden,)),))

    assert codes(g.finish(loss=loss, sources=[hidden])) == ["WG103"]


def test_silent_when_a_variable_is_watched_by_hand() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.watch(w)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[w])) == []


def test_silent_when_the_tensor_has_its_gradient_all_the_same() -> None:
    g = GraphBuilder()
    x = g.constant()

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (x,)), sources=[x], missing=[])) == []
