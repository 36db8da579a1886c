from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import Action, OpKind, Recording, Tensor
from whygrad.source import SourceSpan


def test_fires_when_the_loss_comes_from_a_second_forward_pass(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        """
        hidden = encoder(x)
        loss = decoder(encoder(x))
        slope = tape.gradient(loss, hidden)
        """,
    )
    g = GraphBuilder()
    w = g.variable("w")
    hidden = g.op(OpKind.CONTRACT, (w,), name="MatMul", where=script["encoder(x)"], layers=("encoder",))
    again = g.op(OpKind.CONTRACT, (w,), name="MatMul", where=at(2), layers=("encoder",))
    g.watch(hidden)
    loss = g.op(OpKind.REDUCE, (again,))
    found = one(g.finish(loss=loss, sources=[hidden], where=script["tape.gradient(loss, hidden)"]))

    assert found.code == "WG109"
    assert found.message == "no gradient reaches `hidden`: the loss was computed from another tensor"
    assert [(label.span, label.text) for label in found.related] == [
        (script["encoder(x)"], "this made the tensor that was asked for"),
        (at(2), "this made the one that the loss uses"),
    ]


def test_fires_when_the_source_is_a_symbolic_tensor(tmp_path: Path) -> None:
    script = Script(tmp_path, "slope = tape.gradient(loss, model.input)")
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (w,))
    found = one(g.finish(loss=loss, sources=["KerasTensor"], where=script["tape.gradient(loss, model.input)"]))

    assert found.code == "WG109"
    assert found.message.startswith("`model.input` is a symbolic Keras tensor")


def test_reads_well_when_the_tensor_cannot_be_named() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    x = g.constant()
    g.watch(x)
    g.op(OpKind.SMOOTH, (x,))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[x]))

    assert found.message == "no gradient reaches the source tensor: the loss was computed from another tensor"


def test_a_tensor_that_nothing_uses_is_no_mix_up() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    g.watch(x)
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), sources=[x]))

    assert found.message == "no gradient reaches the source tensor: nothing is computed from it"
    assert found.help == "use it in the loss, or leave it out of the list"


def test_silent_when_the_loss_uses_the_very_tensor() -> None:
    g = GraphBuilder()
    hidden = g.op(OpKind.CONTRACT, (g.variable("w"),))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (hidden,)), sources=[hidden])) == []


def test_silent_about_variables_which_have_their_own_rule() -> None:
    g = GraphBuilder()
    used, unused = g.variable("used"), g.variable("unused")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (used,)), sources=[unused])) == ["WG107"]


def test_silent_when_the_target_is_a_constant_anyway() -> None:
    g = GraphBuilder()
    hidden = g.op(OpKind.CONTRACT, (g.variable("w"),))

    assert codes(g.finish(loss=g.constant(where=at(4)), sources=[hidden])) == ["WG111"]


def related(g: GraphBuilder, asked: Tensor, used: Tensor) -> list[SourceSpan]:
    """The places shown beside the request, if the loss is made of `used`."""
    g.watch(asked)
    return [label.span for label in one(g.finish(loss=g.op(OpKind.REDUCE, (used,)), sources=[asked])).related]


def test_shows_the_twin_of_the_same_layer() -> None:
    g = GraphBuilder()
    a, b = g.constant(), g.variable("b")
    asked = g.op(OpKind.CONTRACT, (a,), name="MatMul", where=at(2), layers=("model", "dense"))
    used = g.op(OpKind.CONTRACT, (b,), name="MatMul", where=at(3), layers=("dense",))

    assert related(g, asked, used) == [at(2), at(3)]


def test_shows_the_twin_that_is_made_of_the_same_variable() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    asked = g.op(OpKind.CONTRACT, (x, w), name="MatMul", where=at(2))
    used = g.op(OpKind.CONTRACT, (x, w), name="MatMul", where=at(3))

    assert related(g, asked, used) == [at(2), at(3)]


def test_shows_one_place_once_when_the_twin_is_made_there_too() -> None:
    g = GraphBuilder()
    asked = g.op(OpKind.CONTRACT, (g.constant(),), name="MatMul", where=at(2))
    used = g.op(OpKind.CONTRACT, (g.variable("w"),), name="MatMul", where=at(2))

    assert related(g, asked, used) == [at(2)]


@pytest.mark.parametrize("layer", [(), ("dense",)])
def test_shows_no_twin_that_only_has_the_same_name(layer: tuple[str, ...]) -> None:
    g = GraphBuilder()
    asked = g.op(OpKind.CONTRACT, (g.constant(),), name="MatMul", where=at(2), layers=layer)
    used = g.op(OpKind.CONTRACT, (g.variable("w"),), name="MatMul", where=at(3))

    assert related(g, asked, used) == [at(2)]


def test_shows_no_twin_that_does_something_else_to_the_same_value() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    asked = g.op(OpKind.SMOOTH, (w,), name="Tanh", where=at(2), layers=("dense",))
    used = g.op(OpKind.SMOOTH, (w,), name="Exp", where=at(3), layers=("dense",))

    assert related(g, asked, used) == [at(2)]


def test_shows_no_place_that_is_not_known() -> None:
    g = GraphBuilder()
    asked = g.op(OpKind.SMOOTH, (g.constant(),), name="Tanh")
    used = g.op(OpKind.SMOOTH, (g.variable("w"),), name="Tanh", where=at(3))

    assert related(g, asked, used) == []


@pytest.mark.parametrize(
    ("asked", "watched", "said"),
    [
        ("tape.gradient(loss, x)", "tape.watch(x)", ["WG109"]),
        ("tape.gradient(loss, [x])", "tape.watch(x)", ["WG109"]),
        ("tape.gradient(loss, hidden)", "tape.watch(x)", []),
        ("tape.gradient(loss, x)", "tape.watch(y)", []),
        ("tape.gradient(loss, x)", "other.watch(x)", []),
    ],
    ids=["rebound", "in a list", "another name", "another watched", "in another function"],
)
def test_fires_when_a_watched_name_was_bound_to_another_tensor(
    tmp_path: Path, asked: str, watched: str, said: list[str]
) -> None:
    text = f"def f():\n    other.watch(x)\ntape.watch(x)\ntape.watch(y)\nx = layer(x)\nslope = {asked}\n"
    script = Script(tmp_path, text)
    g = GraphBuilder()
    image = g.constant()
    g.watch(image)
    hidden = g.op(OpKind.CONTRACT, (image, g.variable("w")), where=script["layer(x)"])
    recording = g.finish(loss=g.op(OpKind.REDUCE, (hidden,)), sources=[hidden], missing=[], where=script[asked])
    tapes = {number: replace(tape, watched=(script[watched],)) for number, tape in recording.tapes.items()}

    assert codes(replace(recording, tapes=tapes)) == said


def points_in_parts(*, whole: bool, zeros: bool) -> Recording:
    """The gradient by one column of a loss that takes all columns, or only the other one."""
    g = GraphBuilder()
    w, points = g.variable("w"), g.constant(shape=(8, 2))
    x, t = (g.op(OpKind.MOVE, (points,), action=Action.SPLIT, where=at(line)) for line in (2, 3))
    g.watch(x)
    loss = g.op(OpKind.CONTRACT, (points if whole else t, w), where=at(4))
    if zeros:
        return g.finish(loss=loss, sources=[x], where=at(5), zero=[x], missing=[], zeros_accepted=True)
    return g.finish(loss=loss, sources=[x], where=at(5))


@pytest.mark.parametrize("zeros", [False, True])
def test_fires_for_a_part_of_what_the_loss_takes_whole(zeros: bool) -> None:
    """Also where zeros were asked for in place of None."""
    found = one(points_in_parts(whole=True, zeros=zeros))

    assert found.code == "WG109"
    assert "computed from the whole tensor that it is cut out of" in found.message
    assert [label.span for label in found.related] == [at(2), at(4)]


def test_silent_when_zeros_were_asked_for_and_the_loss_takes_another_part() -> None:
    assert codes(points_in_parts(whole=False, zeros=True)) == []
