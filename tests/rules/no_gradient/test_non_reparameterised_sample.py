from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import Action, Failure, FailureKind, Flow, OpKind


def test_fires_when_the_sample_is_the_only_path() -> None:
    g = GraphBuilder()
    logits = g.variable("logits")
    action = g.op(OpKind.SAMPLE, (logits,), name="Multinomial", dtype="int64", where=at(3))
    reward = g.op(OpKind.MOVE, (g.constant(), action))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (reward,))))

    assert found.code == "WG106"
    assert found.message == (
        "no gradient reaches `logits`: every path to the loss goes through a random draw that is not reparameterised"
    )
    assert found.primary is not None
    assert found.primary.text == "Multinomial: the sample has no gradient with respect to its parameters"


@pytest.mark.parametrize(
    ("action", "advised"),
    [
        (Action.DRAW_CATEGORY, ("draw_categorical", "gumbel_softmax")),
        (Action.DRAW_COUNT, ("log-probability of what was drawn", "mean of the draw")),
        (None, ("log-probability of what was drawn",)),
    ],
)
def test_advises_an_estimator_that_fits_the_draw(action: Action | None, advised: tuple[str, ...]) -> None:
    g = GraphBuilder()
    drawn = g.op(OpKind.SAMPLE, (g.variable("p"),), action=action, flows=(Flow.BLOCKED,), where=at(3))
    help = one(g.finish(loss=g.op(OpKind.REDUCE, (drawn,)))).help or ""

    assert all(word in help for word in advised)
    assert ("categorical" in help) is (action is Action.DRAW_CATEGORY)


def test_fires_once_when_asking_for_the_gradient_of_a_draw_raises() -> None:
    g = GraphBuilder()
    drawn = g.op(OpKind.SAMPLE, (g.variable("p"),), name="RandomPoisson", flows=(Flow.UNREGISTERED,), where=at(3))
    failed = Failure(type_name="LookupError", message="", kind=FailureKind.NO_DERIVATIVE, op="RandomPoisson")

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (drawn,)), error=failed)) == ["WG106"]


def test_fires_when_asking_raises_though_the_parameters_have_another_way() -> None:
    g = GraphBuilder()
    p = g.variable("p")
    drawn = g.op(OpKind.SAMPLE, (p,), name="RandomPoisson", flows=(Flow.UNREGISTERED,), where=at(3))
    failed = Failure(type_name="LookupError", message="", kind=FailureKind.NO_DERIVATIVE, op="RandomPoisson")
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (drawn, p)), error=failed))

    assert found.code == "WG106"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_fires_when_a_probability_is_compared_with_noise() -> None:
    g = GraphBuilder()
    p = g.variable("p")
    noise = g.op(OpKind.NOISE, ())
    drawn = g.op(OpKind.COMPARE, (noise, p), where=at(3))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (drawn,), dtype="float32"),))

    assert codes(g.finish(loss=loss)) == ["WG106"]


def test_fires_when_the_noise_is_transformed_before_it_is_compared() -> None:
    g = GraphBuilder()
    p = g.variable("p")
    noise = g.op(OpKind.SMOOTH, (g.op(OpKind.NOISE, ()),))
    drawn = g.op(OpKind.COMPARE, (noise, p), where=at(3))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (drawn,), dtype="float32"),))

    assert codes(g.finish(loss=loss)) == ["WG106"]


@pytest.mark.xfail(reason="known limit: the noise must not depend on a variable")
def test_fires_when_the_noise_is_scaled_by_a_variable_before_it_is_compared() -> None:
    g = GraphBuilder()
    p, scale = g.variable("p"), g.variable("scale")
    noise = g.op(OpKind.ELEMENTWISE, (scale, g.op(OpKind.NOISE, ())))
    drawn = g.op(OpKind.COMPARE, (noise, p), where=at(3))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (drawn,), dtype="float32"),))

    assert codes(g.finish(loss=loss)) == ["WG106"]


def test_leaves_a_comparison_without_noise_to_its_own_rule() -> None:
    g = GraphBuilder()
    p = g.variable("p")
    drawn = g.op(OpKind.COMPARE, (p, g.constant()), where=at(3))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (drawn,), dtype="float32"),))

    assert codes(g.finish(loss=loss)) == ["WG101"]


def test_silent_when_the_sample_is_reparameterised() -> None:
    g = GraphBuilder()
    mean, scale = g.variable("mean"), g.variable("scale")
    noise = g.op(OpKind.NOISE, ())
    sample = g.op(OpKind.ELEMENTWISE, (mean, g.op(OpKind.ELEMENTWISE, (scale, noise))))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (sample,)))) == []


def test_silent_when_the_framework_gives_the_draw_a_gradient() -> None:
    g = GraphBuilder()
    concentration = g.variable("concentration")
    sample = g.op(OpKind.SAMPLE, (concentration,), name="RandomGamma", flows=(Flow.CARRIED,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (sample,)))) == []


def test_silent_when_the_score_carries_the_gradient() -> None:
    g = GraphBuilder()
    logits = g.variable("logits")
    action = g.op(OpKind.SAMPLE, (logits,), dtype="int64")
    score = g.op(OpKind.MOVE, (g.op(OpKind.SOFTMAX, (logits,)), action), flows=(Flow.CARRIED, Flow.BLOCKED))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (score,)))) == []


def test_silent_when_the_policy_that_samples_is_not_asked_for() -> None:
    g = GraphBuilder()
    behaviour, policy = g.variable("behaviour"), g.variable("policy")
    action = g.op(OpKind.SAMPLE, (behaviour,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (policy, action)), sources=[policy])) == []
