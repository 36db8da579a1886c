from __future__ import annotations

from pathlib import Path

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, loud, notes, one
from whygrad.graph import OpKind, Recording


def test_fires_when_the_loss_does_not_depend_on_a_variable(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        """
        unused = tf.Variable(3.0)
        gradients = tape.gradient(loss, [used, unused])
        """,
    )
    g = GraphBuilder()
    used = g.variable("used")
    g.variable("unused", created=script["tf.Variable(3.0)"])
    loss = g.op(OpKind.SMOOTH, (used,))
    found = one(g.finish(loss=loss, where=script["tape.gradient(loss, [used, unused])"]))

    assert found.code == "WG107"
    assert found.message == "no gradient reaches `unused`: `loss` does not depend on it"
    assert found.primary is not None
    assert found.primary.span == script["tape.gradient(loss, [used, unused])"]
    assert [label.span for label in found.related] == [script["tf.Variable(3.0)"]]
    assert found.notes == ("never read before this gradient was computed",)


def test_fires_once_for_all_variables_of_a_request() -> None:
    g = GraphBuilder()
    used = g.variable("used")
    for number in range(3):
        g.variable(f"head/w{number}")
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,))))

    assert found.message == "no gradient reaches 3 variables of `head`: the loss does not depend on them"


def test_says_when_what_was_computed_is_dropped() -> None:
    g = GraphBuilder()
    used, dropped = g.variable("used"), g.variable("dropped")
    g.op(OpKind.SMOOTH, (dropped,))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,))))

    assert found.notes == ("read under the tape, but nothing computed from it enters the loss",)


def test_says_when_it_was_read_outside_only() -> None:
    g = GraphBuilder()
    used, early = g.variable("used"), g.variable("early")
    with g.outside():
        g.op(OpKind.SMOOTH, (early,))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,))))

    assert found.notes == ("read only while the tape was not recording",)


def test_fires_when_only_the_shape_of_the_variable_is_used() -> None:
    g = GraphBuilder()
    used, table = g.variable("used"), g.variable("table")
    size = g.op(OpKind.CAST, (g.op(OpKind.SHAPE, (table,)),), dtype="float32")

    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used, size))))

    assert found.code == "WG107"
    assert found.notes == ("only its shape was used, never its value",)


def test_said_once_when_two_kinds_of_step_share_the_request() -> None:
    g = GraphBuilder()
    used, sometimes, never = g.variable("used"), g.variable("sometimes"), g.variable("never")
    everything = [used, sometimes, never]
    g.request(g.op(OpKind.SMOOTH, (used, sometimes)), everything, where=at(9), seen=5)
    g.request(g.op(OpKind.SMOOTH, (used,)), everything, where=at(9), seen=3)
    g.update([(used, used), (sometimes, sometimes)])
    [found] = loud(g.finish())

    assert found.variables == ("never",)
    assert (found.steps.seen, found.steps.of) == (8, 8)


def test_only_a_note_when_the_variable_is_skipped_in_some_steps() -> None:
    g = GraphBuilder()
    used, sometimes = g.variable("used"), g.variable("sometimes")
    g.request(g.op(OpKind.SMOOTH, (used, sometimes)), where=at(9), seen=5)
    g.request(g.op(OpKind.SMOOTH, (used,)), where=at(9), seen=3)
    g.update([(used, used), (sometimes, sometimes)])
    recording = g.finish()

    assert (codes(recording), notes(recording)) == ([], ["WG107"])


def test_only_a_note_when_another_loss_trains_the_variable() -> None:
    g = GraphBuilder()
    generator, critic = g.variable("generator"), g.variable("critic")
    g.request(g.op(OpKind.SMOOTH, (generator,)), [generator, critic], where=at(5))
    g.request(g.op(OpKind.SMOOTH, (critic,)), [critic], where=at(6))
    g.update([(critic, critic)])
    g.update([(generator, generator)])
    recording = g.finish()

    assert (codes(recording), notes(recording)) == ([], ["WG107"])


def test_silent_when_the_variable_is_not_asked_for() -> None:
    g = GraphBuilder()
    used = g.variable("used")
    g.variable("frozen")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (used,)), sources=[used])) == []


def test_silent_when_the_loss_depends_on_it_through_another_variable_written_from_it() -> None:
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy", trainable=False)
    g.write(copy, w)

    assert "WG107" not in codes(g.finish(loss=g.op(OpKind.SMOOTH, (copy,))))


def test_silent_when_the_variable_is_not_trainable_and_the_list_is_to_blame() -> None:
    g = GraphBuilder()
    used, count = g.variable("used"), g.variable("count", trainable=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (used,)), sources=[used, count])) == ["WG207"]


def test_silent_when_nothing_is_asked_for() -> None:
    g = GraphBuilder()
    g.variable("w")

    assert codes(g.finish(loss=g.constant(), sources=[])) == []


def test_shows_where_the_variable_is_used_when_a_model_s_own_step_asks() -> None:
    g = GraphBuilder()
    used, head = g.variable("used"), g.variable("head", created=at(1))
    with g.outside():
        g.op(OpKind.SMOOTH, (head,), where=at(2))
    g.op(OpKind.SMOOTH, (head,), where=at(9))
    g.op(OpKind.SMOOTH, (head,))
    g.op(OpKind.SMOOTH, (head,), where=at(4))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,), where=at(3)), model="model", where=at(9)))

    assert found.primary is not None
    assert (found.primary.span, found.primary.text) == (at(4), "what this computes is not used")


def test_shows_the_request_when_a_model_s_own_step_asks_for_what_is_never_read() -> None:
    g = GraphBuilder()
    used = g.variable("used")
    g.variable("head")
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (used,), where=at(3)), model="model", where=at(9)))

    assert found.primary is not None
    assert found.primary.span == at(9)


def skipped(*, losses: tuple[int, int] = (7, 7), asked: tuple[int, int] = (9, 9)) -> Recording:
    """A block that one pass uses and the next one skips, and that nothing moves."""
    g = GraphBuilder()
    used, block = g.variable("used"), g.variable("block")
    for taken, made, where in zip(((used, block), (used,)), losses, asked, strict=True):
        g.request(g.op(OpKind.SMOOTH, taken, where=at(made)), where=at(where), seen=3)
    g.update([(used, used)])
    return g.finish()


def test_only_a_note_when_the_same_loss_uses_it_in_other_steps_though_nothing_moves_it() -> None:
    assert (codes(skipped()), notes(skipped())) == ([], ["WG107"])


def test_fires_when_only_another_loss_or_another_place_uses_what_nothing_moves() -> None:
    assert codes(skipped(losses=(6, 7))) == ["WG107"]
    assert codes(skipped(asked=(8, 9))) == ["WG107"]
