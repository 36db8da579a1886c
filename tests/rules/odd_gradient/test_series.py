"""Rules over steps, on series made by hand: each fires on its trouble and is silent on its healthy neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whygrad.diagnostics import Severity
from whygrad.graph.series import TrackSeries, VariableInfo, VariableSeries
from whygrad.rules.odd_gradient.series import CHECKS, findings
from whygrad.rules.thresholds import Thresholds

STEPS = 100


def noisy(level: float = 1.0, steps: int = STEPS, seed: int = 0) -> np.ndarray:
    """Norms as they are in training: around a level, never the same."""
    return level * np.exp(0.2 * np.random.default_rng(seed).normal(size=steps))


def variable(name: str = "net/dense/kernel", shape: tuple[int, ...] = (10, 10), **given: Any) -> VariableSeries:
    """A healthy variable, but for what is given."""
    steps = given.pop("steps", STEPS)
    norm = given.pop("norm", noisy(1.0, steps))
    channels = {
        "norm": np.asarray(norm, "float32"),
        "nonfinite": np.where(np.isfinite(norm), 0.0, 1.0),
        "weight_norm": given.pop("weight_norm", 5 + np.cumsum(noisy(1e-3, steps))),
        "update_norm": given.pop("update_norm", noisy(1e-3, steps)),
    }
    info = VariableInfo(
        name=name,
        shape=shape,
        layer=name.rpartition("/")[0],
        activation=given.pop("activation", ""),
        missing=given.pop("missing", False),
        dtype=given.pop("dtype", "float32"),
    )
    return VariableSeries(info=info, track="adam", steps=np.arange(steps), channels=channels, **given)


def track(*variables: VariableSeries, learning_rate: float = 1e-3) -> TrackSeries:
    steps = variables[0].steps
    return TrackSeries(
        name="adam",
        steps=steps,
        scalars={"learning_rate": np.full(len(steps), learning_rate)},
        variables=variables,
    )


def said(of: TrackSeries, thresholds: Thresholds | None = None) -> list[tuple[str, str]]:
    return [(rule, finding.message) for rule, finding in findings(of, thresholds or Thresholds())]


def layers(levels: list[float], activation: str = "relu") -> list[VariableSeries]:
    """Kernels and biases in the order of the forward pass, with gradients of these sizes per element."""
    result = []
    for i, level in enumerate(levels):
        result.append(
            variable(f"net/layer_{i}/kernel", (10, 10), norm=noisy(level * 10, seed=i), activation=activation)
        )
        result.append(
            variable(f"net/layer_{i}/bias", (10,), norm=noisy(level * 10**0.5, seed=50 + i), activation=activation)
        )
    return result


def test_silent_on_healthy_training() -> None:
    assert said(track(*layers([0.3, 0.5, 1.0, 0.8, 1.2]))) == []


def test_silent_on_a_deep_network_whose_gradient_shrinks_a_little() -> None:
    assert said(track(*layers([1e-3, 2e-3, 1e-2, 5e-2, 0.1, 1.0], "tanh"))) == []


def test_zero_fires_on_a_gradient_that_is_zero_at_every_step() -> None:
    idle = variable("net/idle/kernel", norm=np.zeros(STEPS), update_norm=np.zeros(STEPS), weight_norm=np.ones(STEPS))

    assert said(track(variable(), idle)) == [
        ("zero-gradient-op", "the gradient of `net/idle/kernel` is exactly zero at every step")
    ]


def test_zero_is_silent_where_one_step_has_a_gradient_or_there_is_none_at_all() -> None:
    rare = np.zeros(STEPS)
    rare[7] = 1e-20
    missing = variable("net/gone/kernel", norm=np.full(STEPS, np.nan), missing=True)

    assert said(track(variable(norm=rare), missing)) == []


def test_dead_units_fires_where_nearly_all_of_a_rectified_layer_is_silent() -> None:
    bias = variable("net/hidden/bias", (64,), activation="relu", dead_units=62, units=64)

    assert said(track(bias)) == [("dead-units", "62 of the 64 units of `net/hidden` are likely dead")]


def test_dead_units_is_a_note_where_half_of_a_layer_is_silent_as_a_small_batch_leaves_it() -> None:
    bias = variable("net/hidden/bias", (64,), activation="relu", dead_units=40, units=64)

    [(rule, finding)] = findings(track(bias))
    assert (rule, finding.severity) == ("dead-units", Severity.NOTE)
    assert finding.message == "40 of the 64 units of `net/hidden` are silent, and may be dead"


@pytest.mark.parametrize(("after", "count"), [(np.nan, 0), (5.0, 1)], ids=["poisoned", "skipped by a loss scale"])
def test_dead_units_is_silent_where_nan_came_into_a_variable(after: float, count: int) -> None:
    norm, weights = noisy(), noisy(5.0)
    norm[5], weights[6:] = np.nan, after
    bias = variable("net/hidden/bias", (64,), activation="relu", dead_units=64, units=64)

    assert len(said(track(variable(norm=norm, weight_norm=weights), bias))) == count


@pytest.mark.parametrize(
    "given",
    [
        {"activation": "relu", "dead_units": 20, "units": 64},
        {"activation": "gelu", "dead_units": 40, "units": 64},
        {"activation": "relu", "dead_units": 3, "units": 4},
        {"activation": "relu"},
    ],
    ids=["few", "not rectified", "tiny layer", "not counted"],
)
def test_dead_units_is_silent(given: dict[str, Any]) -> None:
    assert said(track(variable("net/hidden/bias", (64,), **given))) == []


def before(*activations: str, alive: int | None = None) -> list[str]:
    """What is said of a silent layer, with biases behind it that get no gradient but for one."""
    hidden = variable("net/hidden/bias", (64,), norm=np.zeros(STEPS), activation="relu", dead_units=64, units=64)
    after = [
        variable(f"net/out_{i}/bias", (1,), norm=noisy() if i == alive else np.zeros(STEPS), activation=activation)
        for i, activation in enumerate(activations)
    ]
    return [rule for rule, _ in said(track(hidden, *after)) if rule == "dead-units"]


def test_dead_units_is_silent_where_the_next_bias_that_is_not_rectified_has_no_gradient_either() -> None:
    assert before("") == before("relu", "softmax") == before("", "", alive=1) == []


def test_dead_units_fires_where_any_bias_behind_the_layer_has_a_gradient() -> None:
    assert before("", alive=0) == before("", "", alive=0) == before("relu", "", alive=1) == ["dead-units"]


def test_dead_units_fires_where_the_last_layer_is_rectified_and_may_be_dead_itself() -> None:
    assert before("relu") == ["dead-units"]


def test_saturated_units_fires_where_the_gradient_stops_at_a_sigmoid() -> None:
    series = layers([1e-6, 1.0], "sigmoid")

    assert said(track(*series)) == [("saturated-units", "the `sigmoid` of `net/layer_0` is likely saturated")]


def test_saturated_units_is_silent_behind_another_activation_or_an_ordinary_slope() -> None:
    assert said(track(*layers([1e-6, 1.0], "relu"))) == []
    assert said(track(*layers([0.02, 1.0], "sigmoid"))) == []


def test_vanishing_fires_where_each_layer_gets_less_than_the_next() -> None:
    series = layers([1e-8, 1e-6, 1e-4, 1e-2, 1.0], "elu")

    assert said(track(*series)) == [
        ("vanishing-gradient", "the gradient likely vanishes on the way to 3 variables of `net`")
    ]


def test_vanishing_is_silent_without_depth_or_without_a_trend() -> None:
    assert said(track(*layers([1e-8, 1e-4, 1.0], "elu"))) == []
    assert said(track(*layers([1e-7, 5.0, 1e-2, 3.0, 1e-1, 1.0], "elu"))) == []


def test_exploding_fires_where_the_norm_grows_a_thousandfold() -> None:
    growth = np.logspace(0, 4, STEPS)

    (found,) = said(track(variable(norm=growth)))

    assert found[0] == "exploding-gradient"
    assert found[1].startswith("the gradients of `adam` explode: their norm grows ")


def test_exploding_fires_earlier_where_it_ends_in_nan() -> None:
    growth = np.logspace(0, 3, STEPS)
    growth[90:] = np.nan

    (found,) = said(track(variable(norm=growth)))

    assert found[1].endswith("and ends in NaN or Inf")


def test_exploding_is_silent_on_a_spike_and_on_ordinary_growth() -> None:
    spike = noisy()
    spike[50] = 1e6

    assert said(track(variable(norm=spike))) == []
    assert said(track(variable(norm=np.linspace(1, 50, STEPS)))) == []


STILL = {"weight_norm": np.full(STEPS, 5.0)}


@pytest.mark.parametrize(
    ("given", "rate", "reason"),
    [
        ({"update_norm": np.zeros(STEPS)}, 0.0, "the learning rate is zero"),
        ({"update_norm": np.zeros(STEPS)}, 1e-3, "its updates are zero"),
        ({"update_norm": np.full(STEPS, 1e-9)}, 1e-3, "its updates are too small to change a number"),
        ({}, 1e-3, "something likely gives it its old value back after each step"),
    ],
)
def test_never_updated_says_why(given: dict[str, Any], rate: float, reason: str) -> None:
    still = variable(**STILL, **given)

    assert said(track(still, learning_rate=rate)) == [
        ("never-updated", f"`net/dense/kernel` never moves although it has a gradient: {reason}")
    ]


def test_never_updated_is_silent_where_it_moves_once_or_has_no_gradient() -> None:
    moved = np.full(STEPS, 5.0)
    moved[60:] = 5.1

    assert said(track(variable(weight_norm=moved, update_norm=np.zeros(STEPS)))) == []
    sparse = np.zeros(STEPS)
    sparse[3] = 1.0
    assert said(track(variable(norm=sparse, update_norm=np.zeros(STEPS), **STILL))) == []


def test_numbers_that_were_not_taken_at_each_step_are_enough() -> None:
    known = np.arange(STEPS) % 16 == 0
    weight = np.where(known, 5.0, np.nan)
    update = np.where(known, 0.0, np.nan)

    assert [rule for rule, _ in said(track(variable(weight_norm=weight, update_norm=update)))] == ["never-updated"]


def test_few_steps_say_nothing() -> None:
    short = variable(steps=9, norm=np.zeros(9), weight_norm=np.ones(9), update_norm=np.zeros(9))

    assert said(track(short)) == []


def test_thresholds_can_be_set() -> None:
    bias = variable("net/hidden/bias", (64,), activation="relu", dead_units=20, units=64)

    assert len(said(track(bias), Thresholds(dead_share=0.3))) == 1


def test_every_check_says_in_a_word_what_it_finds() -> None:
    assert all(check.__doc__ for check in CHECKS.values())
