from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, loud, one
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.graph import OpKind, Variable
from whygrad.graph.objects import Call, ObjectCalled


def called(w: Variable, *modes: bool | None) -> ObjectCalled:
    calls = tuple(Call(where=at(5), training=mode) for mode in modes or (None,))
    return ObjectCalled(name="model", variables=(w.id,), calls=calls, mode_dependent=("dropout",))


@pytest.mark.parametrize(
    ("layers", "said"),
    [(("dropout",), "`dropout` depends on"), (("dropout", "norm"), "`dropout` and `norm` depend on")],
)
def test_fires_when_the_flag_is_never_given(layers: tuple[str, ...], said: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), mode_dependent=layers))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert (found.code, found.severity) == ("WG705", Severity.WARNING)
    assert found.message == f"`model` is trained in inference mode: {said} `training=True`, which is not given"
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_shows_every_call_that_leaves_the_flag_out() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    calls = tuple(Call(where=at(line), training=None) for line in (5, 8, 5, 11))
    g.event(replace(called(w), calls=(*calls, Call(where=at(20), taped=False))))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (w,))))

    assert found.primary is not None
    assert [found.primary.span, *(label.span for label in found.related)] == [at(11), at(5), at(8)]


def test_silent_when_some_call_gives_the_flag() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(called(w, None, True))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_model_is_called_outside_of_the_tape_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), calls=(Call(where=at(5), taped=False),)))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_no_layer_depends_on_it() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(called(w), mode_dependent=()))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)))) == []


def test_silent_when_the_model_is_not_the_one_that_is_trained() -> None:
    g = GraphBuilder()
    teacher, student = g.variable("teacher"), g.variable("student")
    g.event(called(teacher))
    loss = g.op(OpKind.SMOOTH, (student, g.op(OpKind.STOP, (teacher,))))

    assert codes(g.finish(loss=loss, sources=[student])) == []


def test_silent_when_only_the_input_is_differentiated() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    g.watch(x)
    g.event(called(w))

    assert codes(g.finish(loss=g.op(OpKind.CONTRACT, (w, x)), sources=[x])) == []


HELPER = """
def forward(x):
    return model(x, training=False)
def evaluate(x):
    return forward(x)
with tf.GradientTape() as tape:
    loss = {step}
"""


def refused(
    folder: Path, step: str = "forward(batch)", *, evaluated: bool = True, trained: bool = True, **facts: object
) -> list[Diagnostic]:
    """A function says `training=False`; a step under a tape calls it, and perhaps others do."""
    script = Script(folder, HELPER.format(step=step))
    where = script["model(x, training=False)"]
    inside = Call(where=where, training=False, callers=(script[step],))
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    outside = (Call(where=where, training=False, taped=False),) if evaluated else ()
    g.event(replace(called(w), calls=(inside, *outside), **facts))  # type: ignore[arg-type]
    return loud(g.finish(loss=g.op(OpKind.SMOOTH, (w, other)), sources=[w, other] if trained else [other]))


def test_fires_when_a_function_says_no_for_a_step_that_does_not_know(tmp_path: Path) -> None:
    [found] = refused(tmp_path)

    assert (found.code, found.certain) == ("WG705", False)
    assert found.primary is not None
    assert found.primary.span.line == 2
    assert [label.span.line for label in found.related] == [6]


def test_silent_when_the_step_says_the_flag_itself(tmp_path: Path) -> None:
    assert refused(tmp_path, "forward(batch, training=False)") == []


def test_silent_when_the_function_serves_nothing_but_training(tmp_path: Path) -> None:
    assert refused(tmp_path, evaluated=False) == []


def test_silent_when_the_statistics_of_the_model_come_from_elsewhere(tmp_path: Path) -> None:
    assert refused(tmp_path, has_statistics=True) == []


def test_silent_when_a_function_says_no_for_a_model_that_is_not_trained(tmp_path: Path) -> None:
    assert refused(tmp_path, trained=False) == []


LOOK = """
def step(x):
    with tf.GradientTape() as tape:
        loss = loss_of(model(x))
def look(x):
    with tf.GradientTape() as tape:
        score = model(x, training=False)
"""


@pytest.mark.parametrize(("moves", "told"), [(False, ["WG705"]), (True, [])])
def test_what_is_asked_for_under_a_tape_that_only_looks_is_no_training(
    tmp_path: Path, moves: bool, told: list[str]
) -> None:
    script = Script(tmp_path, LOOK)
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant()
    flags = {"model(x)": None, "model(x, training=False)": False}
    calls = tuple(Call(where=script[text], training=flag) for text, flag in flags.items())
    g.event(replace(called(w), calls=calls))
    first, second = (replace(script[f"{call}"], line=script[call].line - 1) for call in flags)
    with g.tape(entered=first) as training:
        loss = g.op(OpKind.SMOOTH, (w,))
        g.request(loss, [w], tape=training)
        g.update([(w, w)])
    with g.tape(entered=second) as looking:
        g.watch(x)
        g.request(g.op(OpKind.CONTRACT, (w, x)), [w if moves else x], tape=looking)

    assert codes(g.finish()) == told
