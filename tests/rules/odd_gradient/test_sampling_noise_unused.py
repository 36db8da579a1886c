from __future__ import annotations

from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, loud, one
from whygrad.diagnostics import Severity
from whygrad.graph import OpKind
from whygrad.graph.objects import ObjectCalled


def test_fires_when_a_draw_is_dropped() -> None:
    g = GraphBuilder()
    g.op(OpKind.NOISE, (), where=at(5))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),))))

    assert (found.code, found.severity) == ("WG302", Severity.WARNING)
    assert found.message == "a random draw is made under the tape but nothing uses it"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_when_only_the_expression_that_draws_touches_it() -> None:
    g = GraphBuilder()
    g.op(OpKind.ELEMENTWISE, (g.op(OpKind.NOISE, (), where=at(5)), g.constant()), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == ["WG302"]


def test_fires_once_for_a_draw_that_is_dropped_in_every_step() -> None:
    g = GraphBuilder()
    mean = g.variable("mean")
    for _ in range(3):
        g.op(OpKind.NOISE, (), where=at(5))
        g.request(g.op(OpKind.SMOOTH, (mean,)))

    assert codes(g.finish()) == ["WG302"]


def test_silent_when_the_noise_makes_the_sample() -> None:
    g = GraphBuilder()
    noise = g.op(OpKind.NOISE, (), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"), noise)))) == []


def test_silent_when_the_noise_is_used_for_something_else() -> None:
    g = GraphBuilder()
    g.op(OpKind.SMOOTH, (g.op(OpKind.NOISE, (), where=at(5)),), where=at(6))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == []


def test_silent_when_a_call_whose_result_is_used_draws_in_vain() -> None:
    g = GraphBuilder()
    g.op(OpKind.NOISE, (), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),), where=at(5)))) == []


def test_silent_when_it_is_written_to_a_variable() -> None:
    g = GraphBuilder()
    g.write(g.variable("buffer", trainable=False), g.op(OpKind.NOISE, (), where=at(5)), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == []


def test_silent_when_the_tape_does_not_record_it_or_it_is_whole_numbers() -> None:
    g = GraphBuilder()
    g.op(OpKind.NOISE, (), where=at(5), dtype="int32")
    with g.outside():
        g.op(OpKind.NOISE, (), where=at(6))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == []


def test_silent_when_a_ready_made_layer_that_takes_part_draws_in_vain() -> None:
    g = GraphBuilder()
    g.event(ObjectCalled(name="lstm", ready_made=True))
    g.op(OpKind.NOISE, (), where=at(5), layers=("lstm",))
    state = g.op(OpKind.SMOOTH, (g.variable("kernel"),), where=at(5), layers=("lstm",))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (state,)))) == []


def test_fires_when_the_result_of_a_ready_made_layer_is_dropped_or_the_layer_is_the_user_s() -> None:
    for ready_made in (True, False):
        g = GraphBuilder()
        g.event(ObjectCalled(name="noise", ready_made=ready_made))
        g.op(OpKind.NOISE, (), where=at(5), layers=("noise",))
        mean = g.variable("mean")
        made = mean if ready_made else g.op(OpKind.SMOOTH, (mean,), where=at(6), layers=("noise",))

        assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (made,)))) == ["WG302"]


def test_silent_when_nothing_is_drawn() -> None:
    g = GraphBuilder()

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (g.variable("mean"),)))) == []


TWO_VIEWS = """
def augment(x):
    noise = tf.random.normal(x.shape)
    return x + noise

def step(x):
    with tf.GradientTape() as tape:
        first = augment(x)
        second = augment(x)
        loss = net(first) + net({used})
    return tape.gradient(loss, net.trainable_variables)
"""


@pytest.mark.parametrize("used", ["first", "second"])
def test_fires_when_one_of_two_calls_of_a_helper_that_draws_is_dropped(tmp_path: Path, used: str) -> None:
    script = Script(tmp_path, TWO_VIEWS.format(used=used))
    g = GraphBuilder()
    with g.tape(entered=script["tf.GradientTape()"]) as tape:
        drawn = [g.op(OpKind.NOISE, (), where=script["tf.random.normal(x.shape)"]) for _ in range(2)]
        views = [g.op(OpKind.ELEMENTWISE, (noise,), where=script["x + noise"]) for noise in drawn]
        g.request(g.op(OpKind.SMOOTH, (g.variable("mean"), *views[: 1 + (used == "second")])), tape=tape)
    found = [each.primary.span for each in loud(g.finish()) if each.primary is not None]

    assert found == ([] if used == "second" else [script["second = augment(x)"]])
