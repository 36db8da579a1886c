"""Data that do not belong together or tell nothing apart, and rates that do not last, built by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rules.diagnosis import Script, at, codes, one
from rules.learning.objectives import W, dense, one_hot, trained, values
from whygrad.graph import Action, Failure, FailureKind, Recording, Variable, VariableId
from whygrad.graph.learning import Activation, LayerKind, LossKind, Missed, Values
from whygrad.graph.objects import CompiledMetric

A, L = Activation, LossKind
FLOATS = {"whole": False, "distinct": 60}
STILL = (0.7,) * 12
FALLING = tuple(0.7 * 0.8**i for i in range(12))
YES_OR_NO = values(0, 1, mean=0.5)
HIDDEN = dense(8, A.RELU, line=3, into=0)
SIGMOID = dense(1, A.SIGMOID)
DECAY = tuple(0.01 * 0.1**i for i in range(40))


def scheduled(rates: tuple[float, ...], losses: tuple[float, ...]) -> Recording:
    recording = trained(L.BINARY, SIGMOID, YES_OR_NO, HIDDEN, losses=losses, rate=rates[0])
    return replace(recording, updates=tuple(replace(each, rates=rates) for each in recording.updates))


def test_a_rate_that_vanishes_fires_where_the_loss_stands_still() -> None:
    found = one(scheduled(DECAY, STILL))

    assert found.code == "WG809"
    assert found.message.startswith("the learning rate goes from 0.01 to 1e-41 within 40 steps")
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_a_rate_that_is_over_soon_fires_where_the_loss_fell_before_and_stands_still_since() -> None:
    early = (0.9, 0.85, 0.8, 0.75, 0.72, 0.71, 0.7, 0.7, 0.7, 0.7)
    over = (0.01, *(0.0,) * 39)

    found = one(scheduled(over, (*early, *(0.7,) * 30)))

    assert found.code == "WG809"
    assert "in half of them it is likely 0, which changes nothing" in found.message
    assert codes(scheduled((*(0.01,) * 15, *(0.0,) * 25), (*early, *(0.7,) * 30))) == []


def test_a_rate_that_vanishes_fires_where_the_few_late_losses_differ_by_their_batches_only() -> None:
    noisy = (1.1, 0.9, 1.3, 1.0, 0.7, 1.2, 0.9, 1.1, 1.0, 1.2) + (1.35, 0.7, 1.0, 1.2, 0.75) * 6

    assert one(scheduled((0.01, *(0.0,) * 39), noisy)).code == "WG809"
    assert codes(scheduled((0.01, *(0.0,) * 39), (*noisy[:10], *(0.9 - 0.025 * i for i in range(30))))) == []


def test_a_rate_that_falls_is_silent_where_the_loss_falls_or_the_rate_lasts() -> None:
    assert codes(scheduled(DECAY, FALLING)) == []
    assert codes(scheduled(tuple(0.01 * 0.97**i for i in range(40)), STILL)) == []


def test_zeros_seen_in_batches_fire_unless_another_loss_has_other_targets() -> None:
    zeros = replace(values(0, 0, rows=400), alike=True)
    looks = (values(0.1, 0.2, shape=(64, 1), whole=False),) * 5
    alone = trained(L.BINARY, SIGMOID, zeros, HIDDEN, predictions=looks)
    ones = trained(L.BINARY, SIGMOID, replace(values(1, 1, rows=400), alike=True), HIDDEN, predictions=looks)
    game = replace(alone, objectives=(*alone.objectives, *ones.objectives))

    assert codes(alone) == ["WG811"]
    assert codes(game) == []
    assert codes(trained(L.BINARY, SIGMOID, zeros, HIDDEN, predictions=looks[:2])) == []


def test_inputs_that_are_all_the_same_fire_where_all_are_known() -> None:
    same = (replace(values(0, 0, shape=(64, 3)), alike=True),)

    found = one(trained(L.BINARY, SIGMOID, YES_OR_NO, HIDDEN, inputs=same, whole=True))
    assert found.message.startswith("every row of the inputs is the same")
    assert codes(trained(L.BINARY, SIGMOID, YES_OR_NO, HIDDEN, inputs=same)) == []


def embeddings(*inputs: Values) -> Recording:
    tables = [dense(8, line=line, into=0, kind=LayerKind.EMBEDDING) for line in (3, 4)]
    return trained(L.BINARY, SIGMOID, YES_OR_NO, *tables, inputs=inputs)


def test_fractions_fire_among_several_embeddings_and_not_beside_them() -> None:
    fractions, numbers = values(0.0, 0.99, shape=(64,), **FLOATS), values(0, 99, shape=(64,))
    beside = trained(
        L.BINARY, SIGMOID, YES_OR_NO, dense(8, line=3, into=0, kind=LayerKind.EMBEDDING), inputs=(numbers, fractions)
    )

    assert codes(embeddings(fractions, fractions)) == codes(embeddings(numbers, fractions)) == ["WG808"]
    assert codes(embeddings(numbers, numbers)) == codes(beside) == []


def test_data_that_are_no_numbers_fire_where_they_are_refused() -> None:
    failure = Failure(type_name="ValueError", message="?", kind=FailureKind.NOT_NUMBERS, where=at(9))

    found = one(Recording(failure=failure))
    assert (found.code, found.primary is not None and found.primary.span) == ("WG808", at(9))


def test_many_sigmoids_are_named_where_every_output_is_the_same() -> None:
    same = replace(values(0.3, 0.3, shape=(64, 1), whole=False), spread=1e-7)
    inputs = (values(-1, 1, shape=(64, 3), **FLOATS),)
    deep = [dense(8, A.SIGMOID, line=20 + i, into=i) for i in range(5)]
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)

    found = one(trained(L.REGRESSION, dense(1), numbers, *deep, predictions=(same, same), inputs=inputs))
    assert "5 layers with `sigmoid` lie before it" in found.message
    assert found.primary is not None
    assert found.primary.span == at(24)


def test_matrices_that_stay_zero_fire_by_themselves() -> None:
    recording = trained(L.OTHER, dense(1), YES_OR_NO, losses=STILL)
    [request] = recording.requests
    [source] = request.sources
    assert source.numbers is not None
    blank = replace(source.numbers, norms=(0.0,) * 12, blank=True)
    second = Variable(id=VariableId(2), name="out", dtype="float32", shape=(4, 1), created=at(4))
    bias = Variable(id=VariableId(3), name="bias", dtype="float32", shape=(1,), created=at(5))
    first = replace(W, created=at(3))
    sources = (
        replace(source, numbers=blank),
        replace(source, variable=second.id, numbers=blank),
        replace(source, variable=bias.id),
    )
    zeros = replace(
        recording,
        objectives=(),
        requests=(replace(request, sources=sources),),
        variables={each.id: each for each in (first, second, bias)},
    )

    found = one(zeros)
    assert (found.code, found.primary is not None and found.primary.span) == ("WG811", at(3))


@pytest.mark.parametrize("metrics", [(CompiledMetric(name="binary_accuracy"),), ()])
def test_a_sigmoid_for_each_class_fires_where_a_metric_flatters_it(metrics: tuple[CompiledMetric, ...]) -> None:
    expected = ["WG803"] if metrics else []

    assert codes(trained(L.BINARY, dense(7, A.SIGMOID), one_hot(7), HIDDEN, metrics=metrics)) == expected


def test_silent_when_the_same_column_is_right_in_every_row() -> None:
    drawn = replace(one_hot(7), alike=True)

    assert (
        codes(trained(L.BINARY, dense(7, A.SIGMOID), drawn, HIDDEN, metrics=(CompiledMetric(name="binary_accuracy"),)))
        == []
    )


def test_a_hinge_by_hand_fires_on_zeros_only() -> None:
    assert codes(trained(L.MARGIN, dense(1), values(0, 1), HIDDEN)) == ["WG807"]
    assert codes(trained(L.MARGIN, dense(1), values(-1, 1), HIDDEN)) == []


def test_data_cut_from_what_is_shuffled_anew_fire() -> None:
    assert codes(trained(L.BINARY, SIGMOID, YES_OR_NO, missed=(Missed.SPLIT_ANEW,))) == ["WG815"]


def test_data_sets_shuffled_apart_fire_for_losses_that_are_known() -> None:
    assert codes(trained(L.BINARY, SIGMOID, YES_OR_NO, missed=(Missed.SHUFFLED_APART,))) == ["WG816"]
    assert codes(trained(L.OTHER, SIGMOID, YES_OR_NO, missed=(Missed.SHUFFLED_APART,))) == []


def fitted(tmp_path: Path, text: str, *missed: Missed) -> Recording:
    script = Script(tmp_path, text)
    return trained(L.BINARY, SIGMOID, YES_OR_NO, HIDDEN, trained=script["model.fit(x, y)"], missed=missed)


def test_arrays_shuffled_apart_fire_by_the_code(tmp_path: Path) -> None:
    text = "x = load()\ny = labels()\nrng.shuffle(x)\nmodel.fit(x, y)"

    found = one(fitted(tmp_path, text))
    assert (found.code, found.primary is not None and found.primary.span.line) == ("WG816", 3)


PIPELINE = """
def stream(columns):
    ds = Dataset.from_tensor_slices(columns)
    ds = ds.shuffle(100)
    return ds.batch(4)

def pipeline(x, y):
    ds = Dataset.zip((stream(x), stream(y)))
    return ds.prefetch(1)

x = load()
y = labels()
model.fit(pipeline(x, y))
"""
OWN = """
x = load()
y = labels()
order = Dataset.from_tensor_slices(x).shuffle(100)
rows = Dataset.from_tensor_slices(y)
both = Dataset.zip((order, rows))
model.fit(both)
"""


@pytest.mark.parametrize(("text", "line"), [(PIPELINE, 7), (OWN, 3)])
def test_data_sets_shuffled_apart_are_shown_at_the_one_that_is_shuffled_or_where_they_are_paired(
    tmp_path: Path, text: str, line: int
) -> None:
    script = Script(tmp_path, text)
    fit = script[text.strip().splitlines()[-1]]
    found = one(trained(L.BINARY, SIGMOID, YES_OR_NO, HIDDEN, trained=fit, missed=(Missed.SHUFFLED_APART,)))

    assert (found.code, found.primary is not None and found.primary.span.line) == ("WG816", line)


def test_targets_among_the_inputs_fire_unless_the_code_makes_them_of_these(tmp_path: Path) -> None:
    leak = "t = load()\nx = t[:, :8]\ny = t[:, 7:]\nmodel.fit(x, y)"
    toy = "x = load()\ny = x[:, 7:]\nmodel.fit(x, y)"

    assert codes(fitted(tmp_path, leak, Missed.TARGETS_AMONG_INPUTS)) == ["WG815"]
    assert codes(fitted(tmp_path, toy, Missed.TARGETS_AMONG_INPUTS)) == []


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"kind": FailureKind.LABELS_MISFIT, "label": (3, 3)}, "a label is 3, and there are the classes 0 to 2"),
        (
            {"kind": FailureKind.LABELS_MISFIT, "shapes": ((32, 4), (32, None))},
            "the loss refuses its labels: they have the shape (32, 4), and the predictions have (32, ?)",
        ),
        ({"kind": FailureKind.ROWS_DIFFER}, "inputs and targets have different numbers of rows"),
        (
            {"kind": FailureKind.SHAPES_DIFFER, "action": Action.SUBTRACT, "shapes": ((32, 2), (32, 3))},
            "predictions and targets do not have the same width: 2 and 3 numbers for each example",
        ),
    ],
)
def test_what_the_framework_refuses_is_explained(facts: dict[str, Any], message: str) -> None:
    failure = Failure(type_name="ValueError", message="?", where=at(9), **facts)

    assert one(Recording(failure=failure)).message == message


def test_labels_of_another_type_are_explained_in_a_loss_alone() -> None:
    facts: dict[str, Any] = {"type_name": "E", "message": "?", "kind": FailureKind.LABELS_OF_OTHER_TYPE}

    assert codes(Recording(failure=Failure(called="nn.sparse_cross_entropy", **facts))) == ["WG806"]
    assert codes(Recording(failure=Failure(called="nn.conv2d", **facts))) == []
