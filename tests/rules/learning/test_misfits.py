"""Output, loss and labels that do not fit, on trainings built by hand; each with one that looks like it and fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, notes, one
from rules.learning.objectives import dense, one_hot, trained, values
from whygrad.diagnostics import Severity
from whygrad.graph import Failure, FailureKind, OpKind, Recording
from whygrad.graph.codec import dump, load
from whygrad.graph.learning import Activation, LayerKind, LossKind

A, L = Activation, LossKind
FLOATS = {"whole": False, "distinct": 60}


def test_one_unit_softmax_fires_whatever_the_loss() -> None:
    for loss in (L.BINARY, L.REGRESSION, L.OTHER):
        found = one(trained(loss, dense(1, A.SOFTMAX), values()))

        assert (found.code, found.severity) == ("WG801", Severity.ERROR)
        assert found.message == "the output of `dense_5` is always 1: its softmax is taken over a single unit"
        assert found.primary is not None
        assert found.primary.span == at(5)


def test_one_unit_softmax_fires_inside_of_the_network() -> None:
    attention = dense(1, A.SOFTMAX, line=3, into=0)
    found = one(trained(L.BINARY, dense(1, A.SIGMOID), values(), attention))

    assert found.code == "WG801"
    assert found.help is not None
    assert "axis" in found.help


def test_silent_when_softmax_has_two_units() -> None:
    assert codes(trained(L.SPARSE, dense(2, A.SOFTMAX), values())) == []


@pytest.mark.parametrize(
    ("activation", "low", "high"),
    [
        (A.SIGMOID, 1.5, 6.0),
        (A.TANH, -3.0, 3.0),
        (A.RELU, -2.0, 2.0),
        (A.SOFTMAX, -2.0, 2.0),
        (A.SOFTPLUS, -2.0, 2.0),
        (A.EXPONENTIAL, -2.0, 2.0),
        (A.SQUARE, -2.0, 2.0),
        (A.ABSOLUTE, -2.0, 2.0),
        (A.ELU, -9.0, 2.0),
        (A.RELU6, 0.0, 60.0),
        (A.HARD_SIGMOID, 0.0, 60.0),
    ],
)
def test_fires_when_targets_lie_outside_of_the_range(activation: Activation, low: float, high: float) -> None:
    found = one(trained(L.REGRESSION, dense(3, activation), values(low, high, shape=(64, 3), **FLOATS)))

    assert found.code == "WG802"
    assert "the targets go from" in found.message


@pytest.mark.parametrize(
    ("activation", "low", "high"),
    [
        (A.SIGMOID, 0.0, 1.0),
        (A.TANH, -1.0, 1.0),
        (A.RELU, 0.0, 99.0),
        (A.LINEAR, -5.0, 5.0),
        (A.SOFTPLUS, 0.0, 99.0),
        (A.EXPONENTIAL, 0.0, 99.0),
        (A.ELU, -1.0, 99.0),
        (A.OTHER, -5.0, 5.0),
    ],
)
def test_silent_when_targets_lie_in_the_range(activation: Activation, low: float, high: float) -> None:
    assert codes(trained(L.REGRESSION, dense(1, activation), values(low, high, shape=(64, 1), **FLOATS))) == []


def test_silent_when_something_is_added_to_what_the_activation_gives() -> None:
    targets = values(-9.0, 9.0, shape=(64, 1), **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1, A.RELU), targets, mixed=True)) == []
    assert codes(trained(L.HINGE, dense(1, A.RELU), values(-1, 1), mixed=True)) == []


def test_silent_when_targets_are_outside_by_rounding() -> None:
    assert codes(trained(L.REGRESSION, dense(1, A.SIGMOID), values(-1e-4, 1.0001, **FLOATS))) == []


STANDARDISED = tuple(-1.5 + 0.1 * step for step in range(32))
NOISY_ZEROS = (-0.3, -0.2, -0.1, -0.05, 0.0, 0.0, 0.05, 0.1, 0.2, 0.3, *(0.5 * step for step in range(1, 22)))
FEW_LARGE = (*(0.0,) * 31, 300.0)
MOSTLY_BELOW = (*(-0.3,) * 20, *(2.0**step for step in range(12)))


@pytest.mark.parametrize("levels", [STANDARDISED, MOSTLY_BELOW])
def test_fires_when_many_targets_are_below_the_range(levels: tuple[float, ...]) -> None:
    low, high = min(levels) - 50.0, max(levels)
    targets = values(low, high, shape=(64, 1), levels=levels, **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1, A.SOFTPLUS), targets)) == ["WG802"]


def test_fires_when_few_targets_are_far_beyond_the_range() -> None:
    targets = values(0.0, 300.0, shape=(64, 1), levels=FEW_LARGE, **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1, A.SIGMOID), targets)) == ["WG802"]


@pytest.mark.parametrize("activation", [A.SOFTPLUS, A.RELU])
def test_silent_when_noise_alone_puts_targets_below_the_range(activation: Activation) -> None:
    targets = values(-0.9, 10.5, shape=(64, 1), levels=NOISY_ZEROS, **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1, activation), targets)) == []


@pytest.mark.parametrize("activation", [A.SOFTPLUS, A.EXPONENTIAL, A.HARD_SIGMOID])
def test_what_may_be_a_probability_is_judged_by_what_was_seen(activation: Activation) -> None:
    """Rows of exponentials are divided by their sum by a categorical cross-entropy."""
    far = (values(0.0, 3.0, shape=(64, 1)),)

    assert codes(trained(L.BINARY, dense(1, activation), values())) == []
    assert codes(trained(L.BINARY, dense(1, activation), values(), predictions=far)) == ["WG805"]


def test_silent_of_a_loss_of_the_users_own() -> None:
    assert codes(trained(L.OTHER, dense(1, A.SIGMOID), values(-9, 9))) == []


def test_hinge_fires_behind_a_sigmoid_only() -> None:
    assert codes(trained(L.HINGE, dense(1, A.SIGMOID), values(-1, 1))) == ["WG802"]
    assert codes(trained(L.HINGE, dense(1, A.SOFTPLUS), values(-1, 1))) == ["WG802"]
    assert codes(trained(L.HINGE, dense(1, A.TANH), values(-1, 1))) == []
    assert codes(trained(L.HINGE, dense(1), values(0, 1))) == []


def test_sigmoid_fires_over_exclusive_classes() -> None:
    assert codes(trained(L.CATEGORICAL, dense(5, A.SIGMOID), one_hot(5))) == ["WG803"]
    assert codes(trained(L.SPARSE, dense(5, A.SIGMOID), values(0, 4))) == ["WG803"]


def test_sigmoid_silent_with_a_binary_loss_for_each() -> None:
    assert codes(trained(L.BINARY, dense(5, A.SIGMOID), one_hot(5))) == []
    assert codes(trained(L.BINARY, dense(5, A.SIGMOID), values(shape=(64, 5), ones=(0, 3)))) == []


def test_softmax_fires_for_labels_that_are_true_together() -> None:
    found = one(trained(L.BINARY, dense(5, A.SOFTMAX), values(shape=(64, 5), ones=(1, 3))))

    assert found.code == "WG804"
    assert "up to 3 labels" in found.message


def test_softmax_silent_for_soft_labels() -> None:
    soft = values(shape=(64, 5), whole=False, distinct=60, sums=(1.0, 1.0))

    assert codes(trained(L.CATEGORICAL, dense(5, A.SOFTMAX), soft)) == []


@pytest.mark.parametrize("activation", [A.LINEAR, A.RELU, A.TANH])
def test_fires_when_a_number_is_taken_for_a_probability(activation: Activation) -> None:
    found = one(trained(L.BINARY, dense(1, activation), values()))

    assert (found.code, found.severity) == ("WG805", Severity.ERROR)
    assert found.message == "the output of `dense_5` is not a probability, and `binary_crossentropy` takes it for one"


def test_unknown_activation_is_judged_by_its_outputs() -> None:
    outside = (values(-3.0, 4.0, shape=(64, 1), **FLOATS),)

    assert codes(trained(L.BINARY, dense(1, A.OTHER), values())) == []
    assert codes(trained(L.BINARY, dense(1, A.OTHER), values(), predictions=outside)) == ["WG805"]


def test_fires_when_probabilities_are_taken_for_logits() -> None:
    assert codes(trained(L.SPARSE, dense(3, A.SOFTMAX), values(0, 2), from_logits=True)) == ["WG805"]
    assert codes(trained(L.SPARSE, dense(3), values(0, 2), from_logits=True)) == []


def test_probabilities_whose_logits_the_loss_finds_behind_them_are_a_note() -> None:
    harmless = trained(L.SPARSE, dense(3, A.SOFTMAX), values(0, 2), from_logits=True, logits_kept=True)

    assert codes(harmless) == []
    assert notes(harmless) == ["WG805"]


def test_rectifier_before_a_softmax_is_a_warning() -> None:
    softmax = dense(3, A.SOFTMAX, line=6, kind=LayerKind.ACTIVATION)
    found = one(trained(L.SPARSE, softmax, values(0, 2), dense(3, A.RELU, into=0)))

    assert (found.code, found.severity) == ("WG805", Severity.WARNING)
    assert codes(trained(L.SPARSE, softmax, values(0, 2), dense(3, into=0), dense(9, A.RELU, into=1))) == []


def test_labels_fire_when_class_numbers_are_given_for_rows() -> None:
    found = one(trained(L.CATEGORICAL, dense(3, A.SOFTMAX), values(0, 2)))

    assert found.code == "WG806"
    assert found.message == "`categorical_crossentropy` takes one-hot rows, and is given class numbers of shape (N,)"
    assert found.help is not None
    assert "`sparse_categorical_crossentropy`" in found.help


def test_labels_fire_when_rows_are_given_for_class_numbers() -> None:
    recording = trained(L.SPARSE, dense(4, A.SOFTMAX), one_hot(4))

    assert codes(recording) == ["WG806"]


def test_a_run_that_died_of_its_labels_is_explained_once() -> None:
    unseen = replace(values(shape=(64, 4)), rows=0)
    recording = trained(L.SPARSE, dense(4, A.SOFTMAX), unseen)
    failure = Failure(type_name="ValueError", message="", where=at(9), kind=FailureKind.LABELS_LARGER)

    assert codes(recording) == []
    assert codes(replace_failure(recording, failure)) == ["WG806"]


def test_a_refusal_that_no_shape_explains_is_told_all_the_same() -> None:
    failure = Failure(type_name="InvalidArgumentError", message="", where=at(9), kind=FailureKind.LABELS_MISFIT)

    assert codes(Recording(failure=failure)) == ["WG806"]


def replace_failure(recording: Recording, failure: Failure) -> Recording:
    return replace(recording, failure=failure)


def test_labels_fire_when_a_label_has_no_unit() -> None:
    found = one(trained(L.SPARSE, dense(7, A.SOFTMAX), values(0, 7)))

    assert found.message == "`dense_5` has the classes 0 to 6, but the labels go from 0 to 7"
    assert found.help == "8 units"
    shifted = one(trained(L.SPARSE, dense(4, A.SOFTMAX), values(1, 4)))
    assert shifted.help == "subtract 1 from the labels: classes count from 0"
    assert codes(trained(L.SPARSE, dense(8, A.SOFTMAX), values(0, 7))) == []


def test_rows_without_a_class_are_a_warning() -> None:
    found = one(trained(L.CATEGORICAL, dense(4, A.SOFTMAX), values(shape=(64, 4), ones=(0, 1))))

    assert (found.code, found.severity) == ("WG806", Severity.WARNING)
    assert codes(trained(L.BINARY, dense(4, A.SIGMOID), values(shape=(64, 4), ones=(0, 1)))) == []


def test_labels_fire_when_class_numbers_are_given_to_a_binary_loss() -> None:
    found = one(trained(L.BINARY, dense(1, A.SIGMOID), values(0, 3)))

    assert found.code == "WG806"
    assert found.help is not None
    assert "4 units" in found.help


def test_several_units_for_one_target_fire() -> None:
    wide = (values(-1, 1, shape=(64, 3), **FLOATS),)
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)

    assert codes(trained(L.REGRESSION, dense(3), numbers, predictions=wide)) == ["WG806"]
    assert codes(trained(L.REGRESSION, dense(3), replace(numbers, shape=(64, 3)), predictions=wide)) == []


def test_a_prediction_for_each_step_of_one_target_fires() -> None:
    steps = (values(-1, 1, shape=(64, 10, 1), **FLOATS),)
    numbers = values(-1, 1, shape=(64, 1), **FLOATS)

    assert codes(trained(L.REGRESSION, dense(1), numbers, predictions=steps)) == ["WG806"]
    assert codes(trained(L.REGRESSION, dense(1), replace(numbers, shape=(64, 10, 1)), predictions=steps)) == []


def test_plain_numbers_for_a_loss_of_classes_fire() -> None:
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), values(2.0, 9.0, **FLOATS))) == ["WG807"]
    assert codes(trained(L.BINARY, dense(1, A.SIGMOID), values(0.0, 1.0, **FLOATS))) == []


def test_one_unit_for_a_loss_over_classes_fires() -> None:
    assert codes(trained(L.CATEGORICAL, dense(1, A.SIGMOID), values(shape=(64, 1)))) == ["WG807"]


def test_binary_loss_over_many_classes_fires_but_not_over_two() -> None:
    assert codes(trained(L.BINARY, dense(10, A.SOFTMAX), one_hot(10))) == ["WG807"]
    assert codes(trained(L.BINARY, dense(2, A.SOFTMAX), one_hot(2))) == []


def test_distance_on_classes_is_a_note_unless_it_hardly_learns() -> None:
    rows = one_hot(10, mean=0.1, deviation=0.3)

    assert notes(trained(L.REGRESSION, dense(10, A.SOFTMAX), rows)) == ["WG807"]
    assert codes(trained(L.REGRESSION, dense(10, A.SOFTMAX), rows, losses=(0.09,) * 12)) == ["WG807"]
    assert codes(trained(L.REGRESSION, dense(10, A.SOFTMAX), rows, losses=(0.09, 0.05, 0.03, 0.02) * 3)) == []


def test_targets_that_are_not_known_are_not_judged() -> None:
    unknown = replace(values(), rows=0, shape=())
    for loss in (L.BINARY, L.SPARSE, L.REGRESSION):
        assert codes(trained(loss, dense(3, A.SOFTMAX), unknown)) == []


def test_an_objective_is_stored_and_read_back() -> None:
    recording = trained(L.BINARY, dense(1, A.SOFTMAX), values(), losses=(0.5, float("nan")), rate=0.1)

    assert load(dump(recording), Recording).objectives == recording.objectives


def test_what_is_compared_by_exchanged_arguments_is_not_judged_as_an_output() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    recording = g.finish(loss=g.op(OpKind.CROSS_ENTROPY, (g.constant(), w), where=at(9)), sources=[w])
    objective = trained(L.SPARSE, dense(3, A.SOFTMAX), values(0, 2), from_logits=True).objectives[0]

    assert codes(replace(recording, objectives=(replace(objective, where=at(9)),))) == ["WG704"]
    assert "WG805" in codes(replace(recording, objectives=(replace(objective, where=at(4)),)))
