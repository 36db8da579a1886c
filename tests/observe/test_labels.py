"""Whose gradient a tensor is, through all that user code does to gradients."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observe.stream import Function, Stream, at
from whygrad.graph import Action, OpKind
from whygrad.graph.event import GradientChange
from whygrad.observe.label import MAX_REQUESTS, Label

W, B, SLOT = 101, 102, 103  # variables
ACTIONS = (Action.ADD, Action.SUBTRACT, Action.MULTIPLY, Action.DIVIDE, Action.SUM, Action.NEGATE, Action.RESHAPE)
STEPS = ("gradient", "read", "assign", "add_to", "noise", *(action.value for action in ACTIONS))
PLAIN = tuple(each.name for each in fields(Label) if each.name not in ("variables", "requests"))


def sums(stream: Stream) -> list[GradientChange]:
    return list(stream.folds.labels.events())


def test_a_gradient_keeps_its_variable_and_its_factor() -> None:
    s = Stream()
    g = s.op(Action.MULTIPLY, s.gradient(W), s.constant(0.5), place=at(3))
    g = s.op(Action.DIVIDE, s.op(Action.NEGATE, g), s.constant(4.0), place=at(4))

    label = s.label(s.op(Action.RESHAPE, s.op(OpKind.CAST, g)))
    assert (label.variables, label.scale, label.divided) == ({W}, 0.125, at(4))


@pytest.mark.parametrize("what", [OpKind.SIGN, OpKind.SMOOTH, OpKind.SQRT, OpKind.POWER])
def test_the_factor_is_lost_where_the_gradient_is_bent(what: OpKind) -> None:
    s = Stream()
    assert s.label(s.op(what, s.gradient(W))).scale is None


def test_the_factor_is_lost_where_it_is_not_constant_or_differs_between_the_terms() -> None:
    s = Stream()
    assert s.label(s.op(Action.MULTIPLY, s.gradient(W), s.tensor())).scale is None
    half = s.op(Action.MULTIPLY, s.gradient(W), s.constant(0.5))
    assert s.label(s.op(Action.ADD, half, s.gradient(W))).scale is None


def test_what_is_computed_from_a_whole_gradient_is_no_gradient() -> None:
    s = Stream()
    assert s.folds.labels.of(s.op(Action.SUM, s.gradient(W))) is None
    assert s.folds.labels.of(s.op(OpKind.SELECT, s.gradient(W), s.gradient(B))) is None


def test_a_product_with_a_norm_clips() -> None:
    s = Stream()
    g = s.gradient(W)
    norm = s.op(OpKind.SQRT, s.op(Action.SUM, g))

    assert s.label(s.op(Action.DIVIDE, g, norm, place=at(5))).clipped == at(5)


def test_a_sum_of_several_requests_is_one_and_says_where() -> None:
    s = Stream()
    total = s.op(Action.ADD, s.op(Action.ADD, s.gradient(W), s.gradient(W), place=at(4)), s.gradient(W), place=at(5))

    assert (len(s.label(total).requests), s.label(total).summed) == (3, at(5))
    assert s.label(total).mixed is None
    assert s.label(s.op(Action.ADD, total, s.gradient(B), place=at(6))).mixed == at(6)


def test_a_sum_without_end_remembers_the_last_requests() -> None:
    s = Stream()
    total = s.gradient(W)
    for _ in range(MAX_REQUESTS + 10):
        total = s.op(Action.ADD, total, s.gradient(W))

    assert len(s.label(total).requests) == MAX_REQUESTS
    assert max(s.label(total).numbers) == s.requests


@pytest.mark.parametrize(("clipped", "noise"), [(True, False), (True, True), (False, False)])
def test_clipping_before_the_sum_is_seen_and_noise_after_it(clipped: bool, noise: bool) -> None:
    s = Stream()
    terms = [s.gradient(W, line=7) for _ in range(3)]
    terms = [s.op(OpKind.CLIP, term, place=at(8)) for term in terms] if clipped else terms
    total = s.op(Action.ADD, *terms, place=at(9))
    if noise:
        s.op(Action.ADD, total, s.op(Action.MULTIPLY, s.op(OpKind.NOISE), s.constant(2.0)))

    expected = GradientChange(asked=at(7), clipped=at(8), summed=at(9), noised=noise)
    assert sums(s) == ([expected] if clipped else [])


def test_clipping_the_sum_is_no_clipping_before_it() -> None:
    s = Stream()
    s.op(OpKind.CLIP, s.op(Action.ADD, s.gradient(W), s.gradient(W)))

    assert sums(s) == []


def test_clipped_gradients_of_different_expressions_are_nothing_to_speak_of() -> None:
    s = Stream()
    s.op(Action.ADD, s.op(OpKind.CLIP, s.gradient(W, line=1), place=at(3)), s.op(OpKind.CLIP, s.gradient(W, line=2)))

    assert sums(s) == []


@pytest.mark.parametrize("persistent", [True, False])
def test_gradients_of_a_running_total_hold_the_earlier_ones(persistent: bool) -> None:
    s = Stream()
    first = s.op(OpKind.SMOOTH, s.tensor())
    second = s.op(Action.ADD, first, s.op(OpKind.SMOOTH, s.tensor()))
    a, b = (s.gradient(W, loss=loss, tape=5, line=6, persistent=persistent) for loss in (first, second))
    s.op(Action.ADD, a, b, place=at(7))

    assert sums(s) == ([GradientChange(asked=at(6), summed=at(7), nested=True)] if persistent else [])


def test_a_variable_holds_what_is_added_to_it_until_it_is_set_back() -> None:
    s = Stream()
    s.assign(SLOT, s.tensor())
    for _ in range(2):
        s.add_to(SLOT, s.gradient(W), place=at(4))
    label = s.label(s.read(SLOT))
    assert (label.slot, len(label.requests), label.summed) == (SLOT, 2, at(4))

    s.assign(SLOT, s.tensor())
    assert s.folds.labels.held_by(SLOT) is None


def test_a_step_along_its_own_gradient_does_not_make_a_variable_an_accumulator() -> None:
    s = Stream()
    s.add_to(W, s.gradient(W))

    assert s.folds.labels.held_by(W) is None


def test_a_traced_sum_of_clipped_gradients_runs_once_for_each_micro_batch() -> None:
    s = Stream()
    s.function = Function(1, s)
    s.add_to(SLOT, s.op(OpKind.CLIP, s.gradient(W, line=2), place=at(3)), place=at(4))

    assert sums(s) == [GradientChange(asked=at(2), clipped=at(3), summed=at(4))]


def test_joined_gradients_are_told_apart_again() -> None:
    s = Stream()
    joined = s.op(Action.JOIN, s.gradient(W), s.gradient(B), extents=((0, 4), (4, 6)))
    assert s.folds.labels.of(joined) is None  # of two variables

    half = s.op(Action.MULTIPLY, joined, s.constant(0.5))
    s.op(Action.SPLIT, half, outputs=2, extents=((0, 4), (4, 6)))
    pieces = [s.label(each.id) for each in s.ops[-1].outputs]
    assert [(piece.variables, piece.scale) for piece in pieces] == [({W}, 0.5), ({B}, 0.5)]


@pytest.mark.parametrize(("extent", "variables"), [((1, 3), {W}), ((4, 5), {B}), ((-1, 0), {B}), ((3, 5), None)])
def test_a_slice_is_of_the_gradient_it_lies_in(extent: tuple[int, int], variables: set[int] | None) -> None:
    s = Stream()
    joined = s.op(Action.JOIN, s.gradient(W), s.gradient(B), extents=((0, 4), (4, 6)))
    label = s.folds.labels.of(s.op(Action.SPLIT, joined, extents=(extent,)))

    assert (None if label is None else label.variables) == variables


def test_where_the_pieces_are_after_a_transposition_is_not_followed() -> None:
    s = Stream()
    joined = s.op(Action.JOIN, s.gradient(W), s.gradient(B), extents=((0, 1), (1, 2)))

    assert s.op(Action.PERMUTE, joined) not in s.folds.labels.tensors
    assert s.op(Action.IDENTITY, joined) in s.folds.labels.tensors


def test_what_is_forgotten_is_gone() -> None:
    s = Stream()
    g = s.gradient(W)
    s.folds.labels.forget({g})

    assert s.folds.labels.of(g) is None


def test_micro_batches_of_different_sizes_that_are_added_up_are_not_aged() -> None:
    s = Stream()
    parts = [s.op(Action.MULTIPLY, s.gradient(W), s.constant(share)) for share in (0.4, 0.2)]
    label = s.label(s.op(Action.ADD, *parts))
    assert (label.scale, label.aged) == (None, False)


def test_a_running_average_and_an_extrapolation_are_aged() -> None:
    s = Stream()
    first = s.op(Action.ADD, s.tensor(), s.gradient(W))
    average = s.op(Action.ADD, s.op(Action.MULTIPLY, first, s.constant(0.9)), s.gradient(W))
    ahead = s.op(Action.SUBTRACT, s.op(Action.MULTIPLY, s.gradient(W), s.constant(2.0)), s.gradient(W))
    assert s.label(average).aged
    assert s.label(ahead).aged


def test_a_sum_that_a_variable_holds_is_aged_only_where_part_of_itself_is_written_back() -> None:
    s = Stream()
    s.assign(SLOT, s.op(Action.ADD, s.read(SLOT), s.gradient(W)))
    assert not s.label(s.op(Action.DIVIDE, s.read(SLOT), s.tensor())).aged  # averaged for the update alone

    s.assign(SLOT, s.op(Action.ADD, s.op(Action.MULTIPLY, s.read(SLOT), s.tensor()), s.gradient(W)))
    assert s.label(s.read(SLOT)).aged


def with_rows(s: Stream, rows: int) -> int:
    """The values of a sparse gradient of these rows."""
    number = s.gradient(W)
    s.folds.labels.tensors[number] = replace(s.label(number), rows=rows)
    return number


def test_values_of_different_rows_that_are_added_up_by_position_are_told() -> None:
    s = Stream()
    s.op(Action.ADD, with_rows(s, 7), s.op(Action.MULTIPLY, with_rows(s, 8), s.constant(0.5)), place=at(4))

    [event] = sums(s)
    assert (event.added_by_position, event.summed, event.asked) == ((W,), at(4), at(1))


def test_values_of_the_same_rows_may_be_added_up_by_position() -> None:
    s = Stream()
    s.op(Action.ADD, with_rows(s, 7), with_rows(s, 7), place=at(4))

    assert sums(s) == []


def test_rows_that_were_put_in_their_places_may_be_added_up() -> None:
    s = Stream()
    s.op(Action.ADD, s.op(Action.SCATTER, with_rows(s, 7)), s.op(Action.SCATTER, with_rows(s, 8)), place=at(4))

    assert sums(s) == []


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 7), st.integers(0, 7)), max_size=30))
def test_an_op_that_is_passed_by_would_have_changed_nothing(steps: list[tuple[str, int, int]]) -> None:
    def run(s: Stream) -> Stream:
        known = [s.tensor(), s.constant(0.5)]
        for what, first, second in steps:
            one, other = known[first % len(known)], known[second % len(known)]
            if what == "gradient":
                known.append(s.gradient(W, B) if second % 2 else s.gradient(W))
            elif what == "read":
                known.append(s.read(SLOT if second % 2 else W))
            elif what == "assign":
                s.assign(SLOT, one, place=at(second))
            elif what == "add_to":
                s.add_to(SLOT, one, place=at(second))
            elif what == "noise":
                known.append(s.op(OpKind.NOISE, one))
            else:
                known.append(s.op(Action(what), one, other, place=at(second)))
        return s

    careful = Stream()
    careful.folds.labels.passes_by = lambda op: False  # type: ignore[method-assign]
    quick, careful = run(Stream()), run(careful)

    def seen(s: Stream) -> list[object]:
        held = [s.folds.labels.tensors, s.folds.labels.variables]
        labels = [{n: (x.variables, x.numbers, *(getattr(x, f) for f in PLAIN)) for n, x in h.items()} for h in held]
        return [*labels, list(s.folds.events())]

    assert seen(quick) == seen(careful)
