from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Failure, OpKind


def test_fires_when_the_labels_are_trained_and_the_predictions_are_data() -> None:
    g = GraphBuilder()
    w, labels = g.variable("w"), g.constant()
    found = one(g.finish(loss=g.op(OpKind.CROSS_ENTROPY, (labels, w), where=at(5))))

    assert found.code == "WG704"
    assert found.message == (
        "labels and predictions are exchanged: the labels are trained, the predictions are constant"
    )
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_fires_once_when_two_kinds_of_step_share_the_line() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    for sources in ([w], [w, other]):
        loss = g.op(OpKind.CROSS_ENTROPY, (g.constant(), w), where=at(5))
        g.request(g.op(OpKind.SMOOTH, (loss, other)), sources, where=at(6))

    assert codes(g.finish()) == ["WG704"]


def test_silent_when_they_are_in_order() -> None:
    g = GraphBuilder()
    w, labels = g.variable("w"), g.constant()

    assert codes(g.finish(loss=g.op(OpKind.CROSS_ENTROPY, (w, labels), where=at(5)))) == []


def test_silent_when_both_are_trained() -> None:
    g = GraphBuilder()
    student, teacher = g.variable("student"), g.variable("teacher")

    assert codes(g.finish(loss=g.op(OpKind.CROSS_ENTROPY, (student, teacher), where=at(5)))) == []


def test_silent_when_the_teacher_s_output_is_stopped() -> None:
    g = GraphBuilder()
    student, teacher = g.variable("student"), g.variable("teacher")
    soft = g.op(OpKind.STOP, (teacher,))
    loss = g.op(OpKind.CROSS_ENTROPY, (student, soft), where=at(5))

    assert codes(g.finish(loss=loss, sources=[student])) == []


def test_silent_when_nothing_that_is_asked_for_enters_it() -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    metric = g.op(OpKind.CROSS_ENTROPY, (g.constant(), other), where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, metric)), sources=[w])) == []


def test_likely_when_the_program_died_of_labels_with_more_axes_than_predictions() -> None:
    text = "`labels.shape.rank` must equal `logits.shape.rank - 1`: labels.shape=(40, 2) and logits.shape=(40,)"
    failure = Failure(type_name="ValueError", message=text, where=at(7))
    found = one(GraphBuilder().finish(failure=failure))

    assert (found.code, found.severity, found.certain) == ("WG704", Severity.WARNING, False)
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_left_to_the_labels_when_the_program_died_of_too_few_axes() -> None:
    text = "Argument `output` must have rank. Received: target.shape=(40,), output.shape=(40, 2, 3)"
    failure = Failure(type_name="ValueError", message=text, where=at(7))

    assert codes(GraphBuilder().finish(failure=failure)) == ["WG806"]
