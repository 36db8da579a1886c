from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, diagnostics, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, Flow, OpId, OpKind, Recording, Tensor, Variable


def test_fires_as_certain_when_the_gradient_is_zero_by_construction() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SIGN, (w,), name="Sign", where=at(4)),))
    found = one(g.finish(loss=loss, zero=[w], where=at(6)))

    assert (found.code, found.severity, found.certain) == ("WG301", Severity.WARNING, True)
    assert found.message == "the gradient of `w` is exactly zero: the gradient of `Sign` is zero"
    assert found.primary is not None
    assert found.primary.span == at(4)
    assert [label.span for label in found.related] == [at(6)]


def test_fires_as_likely_when_a_clip_is_saturated_in_every_step() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,), where=at(4)),))
    found = one(g.finish(loss=loss, zero=[w], seen=10))

    assert (found.code, found.certain) == ("WG301", False)
    assert "likely" in found.message
    assert found.primary is not None
    assert found.primary.span == at(4)


def with_dropout(last: OpKind, *, zero: str, shape: tuple[int, ...] = (8, 1)) -> list[tuple[int, tuple[str, ...]]]:
    """Lines and variables of what is told of two layers with a select between them and another op behind both."""
    g = GraphBuilder()
    first, second = g.variable("first"), g.variable("second")
    dropped = g.op(OpKind.SELECT, (first,), where=at(4))
    loss = g.op(OpKind.REDUCE, (g.op(last, (g.op(OpKind.CONTRACT, (dropped, second)),), shape=shape, where=at(6)),))
    asked = [each for each in (first, second) if each.name in zero.split()]
    found = diagnostics(g.finish(loss=loss, sources=asked, zero=asked, seen=10))
    return [(each.primary.span.line, each.variables) for each in found if each.primary is not None]


def test_lays_all_zeros_to_the_op_that_explains_them_all() -> None:
    assert with_dropout(OpKind.CLIP, zero="first second") == [(6, ("first", "second"))]


def test_lays_a_zero_to_the_op_that_is_certain_to_make_one() -> None:
    assert with_dropout(OpKind.SOFTMAX, zero="first") == [(6, ("first",))]


def test_lays_a_zero_to_the_first_op_when_all_suspects_explain_as_much() -> None:
    assert with_dropout(OpKind.CLIP, zero="first") == [(4, ("first",))]
    assert with_dropout(OpKind.SOFTMAX, zero="first", shape=(8, 2)) == [(4, ("first",))]


def test_fires_as_certain_on_a_softmax_over_one_unit_that_a_processor_rounds() -> None:
    g = GraphBuilder()
    w, beside = g.variable("w"), g.variable("beside")
    lone = g.op(OpKind.SOFTMAX, (w,), action=Action.SOFTMAX, shape=(8, 1), where=at(4))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (g.op(OpKind.CONTRACT, (lone, beside)),))))

    assert (found.code, found.certain, found.variables) == ("WG301", True, ("w",))
    assert found.message == "the gradient of `w` is zero: a softmax over a single unit is 1, whatever goes in"


def test_fires_when_the_score_of_an_unstopped_sample_cancels_out() -> None:
    g = GraphBuilder()
    mean = g.variable("mean")
    noise = g.op(OpKind.NOISE, ())
    sample = g.op(OpKind.ELEMENTWISE, (mean, noise), action=Action.ADD, where=at(3))
    reward = g.op(OpKind.STOP, (g.op(OpKind.SMOOTH, (sample,)),))
    score = g.op(OpKind.ELEMENTWISE, (sample, mean), action=Action.SUBTRACT, where=at(5))
    loss = g.op(OpKind.REDUCE, (score, reward))
    found = one(g.finish(loss=loss, zero=[mean], seen=10))

    assert (found.code, found.certain) == ("WG301", True)
    assert found.primary is not None
    assert found.primary.span == at(5)


@pytest.mark.parametrize("rounded", [False, True])
def test_what_cancels_out_before_it_is_added_up_is_shown_where_it_does(rounded: bool) -> None:
    g = GraphBuilder()
    mean, scale = g.variable("mean", shape=(4, 2)), g.variable("scale")
    drawn = g.op(
        OpKind.ELEMENTWISE, (scale, g.op(OpKind.NOISE, (), shape=(4, 2))), action=Action.MULTIPLY, shape=(4, 2)
    )
    sample = g.op(OpKind.ELEMENTWISE, (mean, drawn), action=Action.ADD, shape=(4, 2))
    apart = g.op(OpKind.ELEMENTWISE, (sample, mean), action=Action.SUBTRACT, shape=(4, 2), where=at(5))
    score = g.op(OpKind.REDUCE, (apart,), action=Action.SUM, shape=(4,), where=at(6))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (score,)), zero=[] if rounded else [mean], seen=10))

    assert (found.code, found.certain, found.variables) == ("WG301", True, ("mean",))
    assert found.primary is not None
    assert found.primary.span == at(5)
    assert "all that depends on it cancels out" in found.message


def test_silent_when_what_cancels_out_has_another_way_into_the_loss() -> None:
    g = GraphBuilder()
    mean = g.variable("mean")
    sample = g.op(OpKind.ELEMENTWISE, (mean, g.op(OpKind.NOISE, ())), action=Action.ADD)
    score = g.op(OpKind.ELEMENTWISE, (sample, mean), action=Action.SUBTRACT)
    value = g.op(OpKind.SMOOTH, (sample,))

    assert not codes(g.finish(loss=g.op(OpKind.REDUCE, (score, value))))


def test_silent_when_one_side_of_the_difference_is_kept_fixed() -> None:
    g = GraphBuilder()
    mean = g.variable("mean")
    sample = g.op(OpKind.ELEMENTWISE, (mean, g.op(OpKind.NOISE, ())), action=Action.ADD)
    score = g.op(OpKind.ELEMENTWISE, (g.op(OpKind.STOP, (sample,)), mean), action=Action.SUBTRACT)

    assert not codes(g.finish(loss=g.op(OpKind.SMOOTH, (score,))))


@pytest.mark.parametrize(("layer", "said"), [("tower/dense", []), ("other", ["WG301"])])
def test_silent_when_a_bias_drops_out_between_two_outputs_of_a_layer_that_learns(layer: str, said: list[str]) -> None:
    g = GraphBuilder()
    kernel, bias = g.variable("tower/dense/kernel"), g.variable(f"{layer}/bias")
    first, second = (
        g.op(OpKind.ELEMENTWISE, (g.op(OpKind.CONTRACT, (g.constant(), kernel)), bias), action=Action.ADD)
        for _ in range(2)
    )
    apart = g.op(OpKind.ELEMENTWISE, (first, second), action=Action.SUBTRACT, where=at(5))

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (apart,)), zero=[bias], seen=10)) == said


def test_fires_when_a_network_is_compared_with_itself() -> None:
    g = GraphBuilder()
    w, x = g.variable("w"), g.constant(shape=(4, 2))
    new, old = (g.op(OpKind.CONTRACT, (x, w), name="MatMul", shape=(4, 1)) for _ in range(2))
    ratio = g.op(
        OpKind.SMOOTH, (g.op(OpKind.ELEMENTWISE, (new, old), action=Action.SUBTRACT, where=at(5)),), name="Exp"
    )
    clipped = g.op(OpKind.SELECT, (ratio, g.constant(shape=())), name="Minimum", where=at(6))
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (clipped,)), zero=[w], seen=10))

    assert found.message == ("the gradient of `w` is exactly zero: likely all that depends on it cancels out in this")
    assert found.primary is not None
    assert found.primary.span == at(5)


def test_a_bias_that_cancels_out_between_two_outputs_is_not_laid_to_an_op() -> None:
    g = GraphBuilder()
    bias = g.variable("bias")
    real, fake = (
        g.op(
            OpKind.REDUCE,
            (g.op(OpKind.ELEMENTWISE, (g.constant(shape=(4, 2)), bias), action=Action.ADD),),
            action=Action.MEAN,
        )
        for _ in range(2)
    )
    loss = g.op(OpKind.ELEMENTWISE, (real, fake), action=Action.SUBTRACT, where=at(5))

    assert codes(g.finish(loss=loss, zero=[bias], seen=10)) == []


def test_a_second_derivative_that_is_zero_is_laid_to_the_activation() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    hidden = g.op(OpKind.SMOOTH, (w,), name="Relu", where=at(3))
    flows, relu = (Flow.CARRIED, Flow.ZERO), OpId(2)
    slope = g.op(OpKind.SELECT, (g.constant(), hidden), name="ReluGrad", derivative_of=relu, where=at(5), flows=flows)
    found = one(g.finish(loss=g.op(OpKind.REDUCE, (slope,)), zero=[w], seen=2))

    assert found.message == "the gradient of `w` is exactly zero: the second derivative of `Relu` is zero"
    assert found.primary is not None
    assert found.primary.span == at(3)


def test_what_is_used_with_such_an_activation_is_not_said_to_be_missing_in_the_loss() -> None:
    g = GraphBuilder()
    w, last, apart = g.variable("w"), g.variable("last"), g.variable("apart")
    hidden = g.op(OpKind.SMOOTH, (w,), name="Relu", where=at(3))
    flows, relu = (Flow.CARRIED, Flow.ZERO), OpId(2)
    slope = g.op(OpKind.SELECT, (g.constant(), hidden), name="ReluGrad", derivative_of=relu, where=at(5), flows=flows)
    g.op(OpKind.CONTRACT, (hidden, last), where=at(4))
    g.op(OpKind.SMOOTH, (apart,), where=at(6))
    found = diagnostics(g.finish(loss=g.op(OpKind.REDUCE, (slope,)), zero=[w], seen=2))

    assert [(each.code, each.variables) for each in found] == [("WG107", ("apart",)), ("WG301", ("w",))]


def softmax(g: GraphBuilder, w: Variable) -> Tensor:
    return g.op(OpKind.SOFTMAX, (w,), action=Action.SOFTMAX, shape=(4, 3), where=at(3))


def sum_of(g: GraphBuilder, *inputs: Tensor) -> Tensor:
    return g.op(OpKind.REDUCE, inputs, action=Action.SUM, shape=(), where=at(5))


def test_fires_as_certain_when_only_the_sum_of_a_softmax_enters_the_loss() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    scaled = g.op(OpKind.ELEMENTWISE, (softmax(g, w), g.constant(shape=())), action=Action.MULTIPLY, shape=(4, 3))
    g.op(OpKind.SHAPE, (scaled,))
    found = one(g.finish(loss=sum_of(g, scaled)))

    assert (found.code, found.certain) == ("WG301", True)
    assert found.message.startswith("the gradient of `w` is zero up to rounding: what ")
    assert found.help == "use single entries of what was normalised, or the values before"


def test_fires_when_a_softmax_is_added_to_itself() -> None:
    g = GraphBuilder()
    p = softmax(g, g.variable("w"))

    assert codes(g.finish(loss=sum_of(g, g.op(OpKind.ELEMENTWISE, (p, p), action=Action.ADD, shape=(4, 3))))) == [
        "WG301"
    ]


def test_silent_when_a_softmax_is_multiplied_by_itself() -> None:
    g = GraphBuilder()
    p = softmax(g, g.variable("w"))

    assert codes(g.finish(loss=sum_of(g, g.op(OpKind.ELEMENTWISE, (p, p), action=Action.MULTIPLY, shape=(4, 3))))) == []


def test_silent_when_a_softmax_is_the_divisor() -> None:
    g = GraphBuilder()
    p = softmax(g, g.variable("w"))
    inverse = g.op(OpKind.DIVIDE, (g.constant(shape=()), p), action=Action.DIVIDE, shape=(4, 3))

    assert codes(g.finish(loss=sum_of(g, inverse))) == []


@pytest.mark.parametrize("name", ["Log", "Square", "StridedSlice"])
def test_silent_when_more_is_done_to_a_softmax_than_summing(name: str) -> None:
    g = GraphBuilder()
    p = softmax(g, g.variable("w"))

    assert codes(g.finish(loss=sum_of(g, g.op(OpKind.SMOOTH, (p,), name=name, shape=(4,))))) == []


def test_silent_when_the_entries_of_a_softmax_are_weighted() -> None:
    g = GraphBuilder()
    p = softmax(g, g.variable("w"))
    weighted = g.op(OpKind.ELEMENTWISE, (p, g.constant(shape=(3,))), action=Action.MULTIPLY, shape=(4, 3))

    assert codes(g.finish(loss=sum_of(g, weighted))) == []


def test_fires_for_the_softmax_alone_when_it_is_scaled_by_something_trained() -> None:
    g = GraphBuilder()
    p, scale = softmax(g, g.variable("w")), g.op(OpKind.SMOOTH, (g.variable("s"),), shape=())
    scaled = g.op(OpKind.ELEMENTWISE, (p, scale), action=Action.MULTIPLY, shape=(4, 3))

    assert one(g.finish(loss=sum_of(g, scaled))).variables == ("w",)


def test_silent_when_the_target_is_no_single_number() -> None:
    g = GraphBuilder()
    rows = g.op(OpKind.REDUCE, (softmax(g, g.variable("w")),), action=Action.SUM, shape=(3,), where=at(5))

    assert codes(g.finish(loss=rows)) == []


def test_silent_when_the_variable_enters_the_loss_beside_the_softmax() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    total = sum_of(g, softmax(g, w))

    assert codes(g.finish(loss=g.op(OpKind.ELEMENTWISE, (total, w), action=Action.ADD, shape=()))) == []


def test_silent_when_the_softmax_is_not_summed_at_all() -> None:
    g = GraphBuilder()
    p = g.op(OpKind.SOFTMAX, (g.variable("w"),), action=Action.SOFTMAX, shape=())

    assert codes(g.finish(loss=g.op(OpKind.ELEMENTWISE, (p,), action=Action.NEGATE, shape=()))) == []


def test_silent_when_another_path_carries_more_than_zero() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, g.op(OpKind.SIGN, (w,)))))) == []


def test_silent_when_zero_was_seen_once_only() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,), where=at(4)),))

    assert codes(g.finish(loss=loss, zero=[w])) == []


def test_silent_when_a_clip_lets_the_gradient_through() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.REDUCE, (g.op(OpKind.CLIP, (w,)),)), seen=10)) == []


def test_silent_when_a_zero_has_no_suspect() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w,)), zero=[w], seen=10)) == []


def test_silent_when_a_way_around_the_clip_exists() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    clipped = g.op(OpKind.CLIP, (w,), where=at(4))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, clipped)), zero=[w], seen=10)) == []


def test_silent_when_the_gradient_is_missing_rather_than_zero() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.STOP, (g.op(OpKind.SIGN, (w,)),)),))

    assert codes(g.finish(loss=loss)) == ["WG103"]


def test_silent_when_data_goes_through_a_sign() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    labels = g.op(OpKind.SIGN, (g.constant(),), flows=(Flow.ZERO,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, labels)))) == []


def masked(*, blank: tuple[int, ...] = (1,), beside: bool = False, learned: bool = False) -> Recording:
    """`w` is multiplied by a mask; beside that it may enter the loss as it is, or make the mask."""
    g = GraphBuilder()
    w = g.variable("w")
    scaled = g.op(OpKind.SMOOTH, (w,))
    mask = g.op(OpKind.SMOOTH, (w,), where=at(3)) if learned else g.constant(where=at(3))
    product = g.op(OpKind.ELEMENTWISE, (scaled, mask), action=Action.MULTIPLY, where=at(4), blank=blank)
    loss = g.op(OpKind.ELEMENTWISE, (product, scaled) if beside else (product,), action=Action.ADD)
    return g.finish(loss=loss, zero=[w], seen=4, where=at(6))


def test_names_the_factor_that_is_zero_and_where_it_was_made() -> None:
    found = one(masked())

    assert found.message.startswith("the gradient of `w` is exactly zero: ")
    assert found.primary is not None
    assert (found.primary.span, found.related[0].span, found.certain) == (at(4), at(3), True)


def test_silent_about_a_factor_that_is_zero_when_there_is_another_way() -> None:
    assert codes(masked(beside=True)) == []


def test_silent_about_a_factor_that_is_zero_when_it_is_what_is_learned() -> None:
    assert codes(masked(learned=True)) == []
    assert codes(masked(blank=())) == []


def off(*, beside: bool = False) -> Recording:
    """Two ReLUs that gave nothing but zeros, one after the other as in a loop."""
    g = GraphBuilder()
    w = g.variable("w")
    first = g.op(OpKind.SMOOTH, (w,), where=at(4), flat=True)
    second = g.op(OpKind.SMOOTH, (g.op(OpKind.ELEMENTWISE, (w, first), action=Action.ADD),), where=at(4), flat=True)
    loss = g.op(OpKind.ELEMENTWISE, (first, second, *((w,) if beside else ())), action=Action.ADD)
    return g.finish(loss=loss, zero=[w], seen=4, where=at(6))


def test_names_the_op_that_is_flat_on_every_way() -> None:
    found = one(off())

    assert "gives nothing but zeros" in found.message
    assert found.primary is not None
    assert (found.primary.span, found.variables) == (at(4), ("w",))
    assert codes(off(beside=True)) == []
