"""Trainings that fit and do not learn, built by hand: data, rates, layers, averages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules.diagnosis import at, codes, notes, one
from rules.learning.objectives import dense, one_hot, trained, values
from whygrad.graph import Recording
from whygrad.graph.learning import Activation, LayerKind, LossKind, Missed
from whygrad.graph.objects import CompiledMetric

A, L = Activation, LossKind
FLOATS = {"whole": False, "distinct": 60}
STILL = (0.7,) * 12
FALLING = tuple(0.7 * 0.8**i for i in range(12))
YES_OR_NO = values(0, 1, mean=0.5)
HIDDEN = dense(8, A.RELU, line=3, into=0)
LARGE = values(10_000.0, 90_000.0, shape=(64, 3), **FLOATS)


def test_unscaled_inputs_fire_where_nothing_is_learned() -> None:
    found = one(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, HIDDEN, inputs=(LARGE,), losses=STILL))

    assert (found.code, found.certain) == ("WG808", False)
    assert found.primary is not None
    assert found.primary.span == at(9)
    assert found.notes == ("after 40 steps the loss is 0.7; the same answer for every input has 0.6931",)


def test_unscaled_inputs_are_silent_where_the_loss_falls_or_something_normalises() -> None:
    sigmoid = dense(1, A.SIGMOID)
    normal = dense(3, line=2, into=1, kind=LayerKind.NORMALISATION)

    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, HIDDEN, inputs=(LARGE,), losses=FALLING)) == []
    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, HIDDEN, normal, inputs=(LARGE,), losses=STILL)) == []


def test_unscaled_inputs_fire_in_front_of_a_plateau_all_the_same() -> None:
    flat = dense(8, A.TANH, line=3, into=0)

    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, flat, inputs=(LARGE,), losses=FALLING)) == ["WG808"]


def test_unscaled_targets_fire_unless_they_are_learned() -> None:
    prices = values(10_000.0, 30_000.0, shape=(64, 1), **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1), prices, HIDDEN, losses=(4e8,) * 12)) == ["WG808"]
    assert codes(trained(L.REGRESSION, dense(1), prices, HIDDEN, losses=(4e8, *(1e7,) * 11))) == []


def test_fractions_for_an_embedding_fire() -> None:
    table = dense(8, line=3, into=0, kind=LayerKind.EMBEDDING)
    fractions, numbers = values(0.0, 0.99, shape=(64, 12), **FLOATS), values(0, 99, shape=(64, 12))

    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, table, inputs=(fractions,))) == ["WG808"]
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, table, inputs=(numbers,))) == []


def test_fractions_beside_an_embedding_of_positions_are_silent() -> None:
    table = dense(8, line=3, into=0, kind=LayerKind.EMBEDDING, positions=True)
    readings = values(-3.0, 3.0, shape=(64, 6, 4), **FLOATS)

    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, table, HIDDEN, inputs=(readings,))) == []


def test_rate_fires_where_steps_are_too_short_to_be_felt() -> None:
    found = one(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, HIDDEN, losses=STILL, rate=1e-8))

    assert found.code == "WG809"
    assert found.message == (
        "a learning rate of 1e-08 is likely too small: 40 steps can lower the loss by 6e-07 of it at most"
    )
    assert found.help == "raise it: 0.006 fits these weights"
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_rate_is_silent_where_only_rows_of_tables_are_moved() -> None:
    """They start small, and are looked up now and then."""
    jumping = (0.7, 0.9, 0.6, 0.8)
    dense_ones = trained(L.REGRESSION, dense(1), values(-1, 1, **FLOATS), HIDDEN, losses=jumping * 3, rate=20.0)
    (request,) = dense_ones.requests
    rows = replace(request, sources=tuple(replace(each, sparse=True) for each in request.sources))

    assert codes(dense_ones) == ["WG809"]
    assert codes(replace(dense_ones, requests=(rows,))) == []


def test_inputs_fire_where_a_normalisation_was_never_adapted_to_them() -> None:
    def told(*, unadapted: bool, high: float) -> Recording:
        idle = dense(3, line=4, into=0, kind=LayerKind.NORMALISATION, unadapted=unadapted)
        return trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, idle, inputs=(values(-high, high, **FLOATS),))

    found = one(told(unadapted=True, high=4000.0))
    assert found.code == "WG808"
    assert found.message.startswith("`dense_4` was never adapted to the data: inputs from -4000 to 4000")
    assert found.primary is not None
    assert found.primary.span == at(4)
    assert codes(told(unadapted=False, high=4000.0)) == codes(told(unadapted=True, high=2.0)) == []


def test_rate_fires_where_steps_are_longer_than_the_weights() -> None:
    growing = (0.7, 50.0, 3e4, float("inf"))
    found = one(trained(L.REGRESSION, dense(1), values(-1, 1, **FLOATS), HIDDEN, losses=growing * 3, rate=20.0))

    assert found.code == "WG809"
    assert "one step is 10 times as long as the weights" in found.message


@pytest.mark.parametrize("rate", [1e-3, 0.1, None])
def test_rate_is_silent_where_it_fits_or_is_not_known(rate: float | None) -> None:
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, HIDDEN, losses=FALLING, rate=rate)) == []


def test_large_rate_is_silent_where_the_loss_falls() -> None:
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, HIDDEN, losses=FALLING, rate=5.0)) == []


def test_linear_stack_fires_where_nothing_is_learned_and_is_a_note_else() -> None:
    stack = (dense(16, line=4, into=0), dense(16, line=3, into=1))
    stuck = trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, *stack, losses=STILL)
    learning = trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, *stack, losses=FALLING)

    assert (
        one(stuck).message
        == "`dense_3`, `dense_4`, `dense_5` act as one linear layer: there is no activation between them"
    )
    assert notes(learning) == ["WG810"]


def test_linear_stack_is_silent_where_something_bends() -> None:
    pooled = dense(16, line=4, into=0, kind=LayerKind.POOLING)
    for others in ((HIDDEN,), (pooled, dense(16, line=3, into=1))):
        recording = trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, *others, losses=FALLING)
        assert codes(recording) == notes(recording) == []


def test_collapsed_fires_where_every_output_is_the_same() -> None:
    same = replace(values(0.3, 0.3, shape=(64, 1), whole=False), spread=1e-7)
    inputs = (values(-1, 1, shape=(64, 3), **FLOATS),)
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)
    collapsed = trained(L.REGRESSION, dense(1), numbers, HIDDEN, predictions=(same, same), inputs=inputs)
    varied = trained(L.REGRESSION, dense(1), numbers, HIDDEN, predictions=(same, numbers), inputs=inputs)
    early = trained(L.REGRESSION, dense(1), numbers, HIDDEN, predictions=(same, same), inputs=inputs, steps=3)

    assert one(collapsed).message == "the output of `dense_5` is the same for every input"
    assert codes(varied) == codes(early) == []


def test_labels_that_are_all_the_same_fire_where_all_are_known() -> None:
    zeros = replace(values(0, 0), alike=True)

    assert one(trained(L.BINARY, dense(1, A.SIGMOID), zeros, whole=True)).message == (
        "every target is 0: there is nothing to tell apart"
    )
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), zeros)) == []


def test_a_rare_class_that_is_never_answered_fires_unless_it_is_weighted() -> None:
    rare = values(0, 1, mean=0.05, rows=1000)
    low = (values(0.0, 0.3, shape=(100, 1), whole=False, rows=100),) * 3
    found = trained(L.BINARY, dense(1, A.SIGMOID), rare, HIDDEN, predictions=low, whole=True)
    weighted = trained(L.BINARY, dense(1, A.SIGMOID), rare, HIDDEN, predictions=low, whole=True, weighted=True)

    assert one(found).message.startswith("the model likely answers no to every input: 5.0% of the targets")
    assert codes(weighted) == []


def test_dropout_fires_before_a_number_and_after_the_output() -> None:
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)
    heavy, light = (dense(8, line=4, into=0, kind=LayerKind.DROPOUT, rate=rate) for rate in (0.8, 0.3))
    after = dense(1, line=6, kind=LayerKind.DROPOUT, rate=0.2)

    assert codes(trained(L.REGRESSION, dense(1), numbers, heavy)) == ["WG812"]
    assert codes(trained(L.REGRESSION, dense(1), numbers, light)) == []
    assert codes(trained(L.SPARSE, dense(3, A.SOFTMAX), values(0, 2), heavy)) == ["WG812"]
    assert codes(trained(L.SPARSE, dense(3, A.SOFTMAX), values(0, 2), replace(heavy, rate=0.6))) == []
    assert codes(trained(L.REGRESSION, after, numbers, dense(1, into=0))) == ["WG812"]


def test_averages_of_few_steps_fire_where_they_are_used() -> None:
    early = dense(8, line=4, into=0, kind=LayerKind.NORMALISATION, unsettled=0.9, off=5.0)
    harmless = replace(early, off=0.1)
    sigmoid = dense(1, A.SIGMOID)

    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, early, evaluated=True)) == ["WG813"]
    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, early)) == []
    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, harmless, evaluated=True)) == []


def test_accuracy_of_plain_numbers_fires() -> None:
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1), numbers, metrics=(CompiledMetric(name="accuracy"),))) == ["WG814"]
    assert codes(trained(L.REGRESSION, dense(1), numbers, metrics=(CompiledMetric(name="mae"),))) == []
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), YES_OR_NO, metrics=(CompiledMetric(name="accuracy"),))) == []


def test_fires_when_a_metric_takes_probabilities_for_class_numbers() -> None:
    overlap = CompiledMetric(name="miou", of_class_numbers=True)
    shares = dense(3, A.SOFTMAX)
    found = one(trained(L.CATEGORICAL, shares, one_hot(3), HIDDEN, metrics=(overlap,)))

    assert found.message.startswith("`miou` takes predictions for class numbers")
    assert (
        codes(trained(L.CATEGORICAL, shares, one_hot(3), HIDDEN, metrics=(replace(overlap, of_class_numbers=False),)))
        == []
    )


def test_leaks_fire() -> None:
    sigmoid = dense(1, A.SIGMOID)

    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, missed=(Missed.VALIDATION_IN_TRAINING,))) == ["WG815"]
    before = trained(L.BINARY, sigmoid, YES_OR_NO, missed=(Missed.VALIDATION_TRAINED_BEFORE,))
    assert "in an earlier `fit`" in one(before).message
    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO, missed=(Missed.TARGETS_AS_INPUTS,))) == ["WG815"]
    assert codes(trained(L.BINARY, sigmoid, YES_OR_NO)) == []
