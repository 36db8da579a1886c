"""What is known of a gradient and its variable when both are handed to an optimizer."""

from __future__ import annotations

import pytest

from observe.stream import Function, Stream, at
from whygrad.graph import Action, OpKind
from whygrad.graph.ledger import Write, WriterKind
from whygrad.graph.node import VariableId
from whygrad.observe.pairs import By, Pair, note_part_taken
from whygrad.observe.windows import Windows

W, B, SLOT = 101, 102, 103


def test_a_mean_of_micro_batches_is_recorded_with_its_factor_and_their_number() -> None:
    s = Stream()
    losses = [s.op(Action.MULTIPLY, s.op(Action.MEAN, s.tensor()), s.constant(0.5), place=at(3)) for _ in range(2)]
    pair = s.apply(W, s.op(Action.ADD, *(s.gradient(W, loss=loss) for loss in losses), place=at(5)))

    assert (pair.requests, pair.scale, pair.mean, pair.same_place) == (2, 0.5, True, True)
    assert (pair.summed, pair.loss_divided) == (at(5), at(3))
    assert not pair.stale
    assert not pair.compiled


def test_a_gradient_that_another_was_weighed_by_and_taken_from_has_no_constant_factor() -> None:
    """Gradients of several tasks, projected on one another."""
    s = Stream()
    mine, other = s.gradient(W), s.gradient(W)
    overlap = s.op(Action.SUM, s.op(Action.MULTIPLY, mine, other), kind=OpKind.REDUCE)
    projected = s.op(Action.SUBTRACT, mine, s.op(Action.MULTIPLY, overlap, other, place=at(4)), place=at(4))

    assert s.apply(W, projected).scale is None


def test_requests_of_one_tape_or_of_two_expressions_are_no_micro_batches() -> None:
    s = Stream()
    assert not s.apply(W, s.op(Action.ADD, s.gradient(W, tape=3), s.gradient(W, tape=3))).same_place
    assert not s.apply(W, s.op(Action.ADD, s.gradient(W, line=1), s.gradient(W, line=2))).same_place


@pytest.mark.parametrize("reset", [True, False])
def test_an_accumulator_that_is_not_set_back_is_applied_twice(reset: bool) -> None:
    s = Stream()
    pairs = []
    for _ in range(2):
        if reset:
            s.assign(SLOT, s.tensor())
        for _ in range(2):
            s.add_to(SLOT, s.gradient(W))
        pairs.append(s.apply(W, s.read(SLOT)))

    assert [pair.stale for pair in pairs] == [False, not reset]


def test_of_what_is_applied_again_it_is_known_which_update_applied_it_before() -> None:
    s = Stream()
    for _ in range(2):
        s.add_to(SLOT, s.gradient(W))
    first = s.apply(W, s.read(SLOT), line=5)
    for _ in range(2):
        s.add_to(SLOT, s.gradient(W))

    assert first.applied is None
    assert s.apply(W, s.read(SLOT), line=9).applied == at(5)


@pytest.mark.parametrize(
    ("tapes", "losses", "optimizers", "again"),
    [
        ((7, 7), (1, 1), (1, 2), True),
        ((7, 8), (1, 1), (1, 2), False),
        ((7, 7), (1, 2), (1, 2), False),
        ((7, 7), (1, 1), (1, 1), False),
    ],
    ids=["one loss, two optimizers", "two tapes", "two losses", "one optimizer"],
)
def test_two_optimizers_that_apply_the_gradient_of_one_loss_are_told(
    tapes: tuple[int, int], losses: tuple[int, int], optimizers: tuple[int, int], again: bool
) -> None:
    s = Stream()
    gradients = [s.gradient(W, loss=loss, tape=tape) for tape, loss in zip(tapes, losses, strict=True)]
    first, second = (s.apply(W, g, line=n, optimizer=n) for g, n in zip(gradients, optimizers, strict=True))

    assert first.moved is None
    assert second.moved == (at(1) if again else None)


def test_a_gradient_that_is_asked_for_after_the_first_update_is_another_matter() -> None:
    s = Stream()
    first = s.apply(W, s.gradient(W, loss=1, tape=7), line=1, optimizer=1)
    s.tensor()
    s.op(Action.ADD, s.tensor())
    second = s.apply(W, s.gradient(W, loss=1, tape=7), line=2, optimizer=2)

    assert (first.moved, second.moved) == (None, None)


def test_a_gradient_that_was_traced_apart_from_its_update_is_compiled() -> None:
    s = Stream()
    s.function = Function(1, s)
    g = s.gradient(W)
    assert not s.apply(W, g).compiled

    s.function = None
    assert s.apply(W, g).compiled


@pytest.mark.parametrize("summed", [True, False])
def test_a_variable_takes_part_in_a_pass_if_a_sum_under_the_tape_depends_on_it(summed: bool) -> None:
    s = Stream()
    tape = (5,)
    product = s.op(Action.MULTIPLY, s.read(W, tapes=tape), s.read(B, tapes=tape), tapes=tape)
    if summed:
        s.op(Action.SUM, product, tapes=tape)
    pair = Pair(B, s.label(s.gradient(W, tape=5)))
    note_part_taken([pair], s.ops, {})

    assert pair.recorded().beside == summed


def test_a_copy_that_is_filled_under_the_tape_takes_no_part() -> None:
    s = Stream()
    tape = (5,)
    s.assign(W, s.read(B, tapes=tape), tapes=tape)
    s.op(Action.SUM, s.read(W, tapes=tape), tapes=tape)
    pair = Pair(B, s.label(s.gradient(W, tape=5)))
    note_part_taken([pair], s.ops, {})

    assert not pair.took_part


def test_a_handle_that_a_function_captured_stands_for_its_variable() -> None:
    s = Stream()
    inner = s.tensor()
    s.op(Action.SUM, s.op(OpKind.CALL, inner, tapes=(5,)), tapes=(5,))
    pair = Pair(B, s.label(s.gradient(W, tape=5)))
    note_part_taken([pair], s.ops, {inner: B})

    assert pair.took_part


def overwritten(s: Stream, since: int) -> object:
    return s.folds.assignments.overwritten(W, since, s.makers.get, s.folds.labels.tensors)


@pytest.mark.parametrize(
    ("origin", "found"),
    [("another variable", True), ("the variable itself", False), ("its copy", False), ("Python", False)],
)
def test_a_variable_is_overwritten_by_values_of_another_origin(origin: str, found: bool) -> None:
    s = Stream()
    if origin == "its copy":
        s.assign(B, s.read(W))
    value = {"Python": s.tensor, "the variable itself": lambda: s.read(W)}.get(origin, lambda: s.read(B))()
    since = s.clock
    value = value if origin == "Python" else s.op(Action.MULTIPLY, value, s.op(OpKind.CONSTANT))
    s.assign(W, value, place=at(6))

    assert overwritten(s, since) == (at(6) if found else None)
    assert overwritten(s, s.clock + 1) is None


def accumulated(s: Stream) -> Pair:
    """A gradient that compiled code added up in a variable, applied apart from it."""
    s.function = Function(1, s)
    s.add_to(SLOT, s.gradient(W))
    s.function = None
    return s.folds.applied.pair(W, s.label(s.read(SLOT)), By())


def write(count: int, *, conditional: bool = False) -> Write:
    return Write(
        variable=VariableId(SLOT),
        kind=WriterKind.USER,
        writer="total",
        method="assign_add",
        count=count,
        compiled=True,
        conditional=conditional,
    )


@pytest.mark.parametrize(("writes", "size"), [([write(12)], 4), ([write(12, conditional=True)], 0), ([], 0)])
def test_micro_batches_of_compiled_code_are_counted_by_the_additions(writes: list[Write], size: int) -> None:
    s = Stream()
    windows = Windows(writes, s.folds.assignments)

    assert windows.size(accumulated(s), 3) == size
    assert windows.size(accumulated(s), 0) is None


@pytest.mark.parametrize(("resets", "updates", "stale"), [(0, 3, True), (0, 1, False), (3, 3, False), (1, 9, True)])
def test_a_compiled_accumulator_is_applied_more_often_than_it_is_set_back(
    resets: int, updates: int, stale: bool
) -> None:
    s = Stream()
    for _ in range(resets):
        s.assign(SLOT, s.tensor())
    pair = accumulated(s)

    assert Windows([], s.folds.assignments).never_set_back(pair, updates, 0, None) == stale


def test_adding_in_the_way_of_keras_sets_nothing_back() -> None:
    s = Stream()
    s.assign(SLOT, s.op(Action.ADD, s.op(OpKind.CAST, s.read(SLOT)), s.tensor()))

    assert s.folds.assignments.resets[SLOT] == 0
