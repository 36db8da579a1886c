"""Dead, saturated, vanishing, exploding, never updated, overwritten: on recordings built by hand, at their places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, diagnostics, one
from whygrad.diagnostics import Severity
from whygrad.graph import GradientNumbers, OpKind, Pairing, Recording, Update, Variable
from whygrad.graph.event import VariableStep
from whygrad.graph.nonfinite import Nonfinite, Occurrence, Stage

STEPS = tuple(range(12))


def followed(built: GraphBuilder, loss: Any, numbers: dict[Variable, GradientNumbers], **facts: Any) -> Recording:
    """The recording of a loop whose gradients had these sizes; sources are in the order of the forward pass."""
    recording = built.finish(loss=loss, where=at(9), compiled=True)
    [request] = recording.requests
    by_id = {variable.id: each for variable, each in numbers.items()}
    sources = tuple(
        replace(source, numbers=replace(by_id[source.variable], order=position))
        for position, source in enumerate(request.sources)
        if source.variable is not None
    )
    steps = facts.pop("steps", STEPS)
    request = replace(request, sources=sources, steps=steps, ran=max(steps) + 1, **facts)
    return replace(recording, requests=(request,))


def sizes(norm: float = 1.0, *, steps: int = len(STEPS), **facts: Any) -> GradientNumbers:
    facts.setdefault("moved", norm != 0)
    return GradientNumbers(norms=tuple(norm * (1 + 0.1 * (i % 3)) for i in range(steps)), **facts)


def network(activation: str, *, hidden: float, units: int = 8, silent: int = 8, biased: bool = True) -> Recording:
    """Two layers; the gradient of the first has a size, that of the second is one."""
    g = GraphBuilder()
    names = ("hidden/kernel", "hidden/bias", "out/kernel", "out/bias")
    shapes = ((4, units), (units,), (units, 1), (1,))
    made = [g.variable(name, shape=shape, created=at(3)) for name, shape in zip(names, shapes, strict=True)]
    made = made if biased else made[::2]
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SMOOTH, made, where=at(7)),))
    facts = {"activation": activation, "activated": at(7)}
    numbers = [
        sizes(hidden, **facts),
        sizes(hidden, units=units, silent=silent, **facts),
        sizes(0.0 if hidden == 0 and activation == "relu" else 1.0),
        sizes(units=1, silent=0),
    ]
    return followed(g, loss, dict(zip(made, numbers if biased else numbers[::2], strict=True)))


def test_dead_fires_once_for_a_layer_and_all_that_get_nothing_through_it() -> None:
    found = one(network("relu", hidden=0.0))

    assert (found.code, found.certain) == ("WG305", False)
    assert found.message == "all 8 units of `hidden` are likely dead: the gradient ends at its `relu`"
    assert found.variables == ("hidden/kernel", "hidden/bias", "out/kernel")
    assert found.primary is not None
    assert found.primary.span == at(3)
    assert (found.steps.seen, found.steps.of) == (12, 12)


def test_dead_fires_when_most_units_are_silent() -> None:
    found = one(network("relu", hidden=1.0, silent=8))

    assert (found.code, found.variables) == ("WG305", ("hidden/bias",))
    assert "8 of the 8 units of `hidden`" in found.message


def test_dead_is_a_note_when_many_units_are_silent() -> None:
    [found] = diagnostics(network("relu", hidden=1.0, silent=6))

    assert (found.code, found.severity) == ("WG305", Severity.NOTE)


@pytest.mark.parametrize(("skipped", "said"), [(False, ["WG419"]), (True, ["WG305"])])
@pytest.mark.parametrize("hidden", [0.0, 1.0])
def test_dead_is_silent_when_nan_came_in_and_stayed(hidden: float, skipped: bool, said: list[str]) -> None:
    when = Occurrence(request=at(9), seen=1, of=12, symptom="NaN", skipped=skipped)
    bad = Nonfinite(stage=Stage.UNPLACED, where=at(9), when=when)

    assert codes(replace(network("relu", hidden=hidden), events=(bad,))) == said


@pytest.mark.parametrize("silent", [0, 3])
def test_dead_is_silent_when_few_units_are(silent: int) -> None:
    assert codes(network("relu", hidden=1.0, silent=silent)) == []


def test_dead_is_silent_when_the_loss_gives_no_gradient_at_all() -> None:
    recording = network("relu", hidden=0.0)
    [request] = recording.requests
    sources = tuple(
        replace(source, numbers=replace(source.numbers, norms=(0.0,) * len(STEPS)))
        for source in request.sources
        if source.numbers is not None
    )

    assert codes(replace(recording, requests=(replace(request, sources=sources),))) == []


def test_saturated_fires_at_the_activation_when_nothing_passes() -> None:
    found = one(network("tanh", hidden=0.0))

    assert (found.code, found.variables) == ("WG306", ("hidden/kernel", "hidden/bias"))
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_saturated_fires_when_hardly_anything_passes() -> None:
    assert codes(network("sigmoid", hidden=1e-5, silent=0)) == ["WG306"]


def test_saturated_is_silent_when_a_part_passes() -> None:
    assert codes(network("sigmoid", hidden=0.05, silent=0)) == []


@pytest.mark.xfail(reason="known limit: seen by the gradient of the bias")
@pytest.mark.parametrize(("activation", "code"), [("relu", "WG305"), ("tanh", "WG306")])
def test_dead_and_saturated_fire_for_a_layer_without_a_bias(activation: str, code: str) -> None:
    assert codes(network(activation, hidden=0.0, biased=False)) == [code]


def test_zero_is_a_note_when_no_layer_can_be_blamed() -> None:
    [found] = diagnostics(network("", hidden=0.0))

    assert (found.code, found.severity) == ("WG301", Severity.NOTE)
    assert found.variables == ("hidden/kernel", "hidden/bias")
    assert "exactly zero at every step" in found.message


def test_all_is_silent_on_few_steps() -> None:
    recording = network("relu", hidden=0.0)
    [request] = recording.requests
    sources = tuple(
        replace(source, numbers=replace(source.numbers, norms=source.numbers.norms[:9]))
        for source in request.sources
        if source.numbers is not None
    )

    assert codes(replace(recording, requests=(replace(request, steps=STEPS[:9], ran=9, sources=sources),))) == []


def deep(*levels: float, **facts: Any) -> Recording:
    g = GraphBuilder()
    made = [g.variable(f"level_{i}/kernel", shape=(4, 4)) for i in range(len(levels))]
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SMOOTH, made, where=at(7)),))
    return followed(g, loss, {v: sizes(level, **facts) for v, level in zip(made, levels, strict=True)})


def test_vanishing_fires_where_the_gradients_are_asked_for() -> None:
    found = one(deep(1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0))

    assert (found.code, found.certain) == ("WG307", False)
    assert found.primary is not None
    assert found.primary.span == at(9)


def test_vanishing_explains_weights_that_never_move() -> None:
    assert codes(deep(1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0, moved=False)) == ["WG307"]


def test_vanishing_is_silent_when_the_gradient_shrinks_a_little() -> None:
    assert codes(deep(0.01, 0.03, 0.1, 0.3, 0.5, 1.0)) == []


@pytest.mark.xfail(reason="known limit: takes four kernels")
def test_vanishing_fires_for_three_layers() -> None:
    assert codes(deep(1e-9, 1e-4, 1.0)) == ["WG307"]


def single(norms: tuple[float, ...], *, divides: bool = False, **facts: Any) -> Recording:
    g = GraphBuilder()
    w = g.variable("w", shape=(3, 3))
    value = g.op(OpKind.SMOOTH, (w,), where=at(5))
    if divides:
        value = g.op(OpKind.DIVIDE, (value, g.op(OpKind.SQRT, (value,))), where=at(6))
    loss = g.op(OpKind.REDUCE, (value,))
    numbers = GradientNumbers(norms=norms, moved=True)
    return followed(g, loss, {w: numbers}, steps=tuple(range(len(norms))), **facts)


def test_exploding_fires_on_growth() -> None:
    found = one(single(tuple(10.0**i for i in range(12))))

    assert found.code == "WG308"
    assert "their norm grows" in found.message


def test_exploding_fires_at_once_on_a_size_that_no_training_has() -> None:
    found = one(single((1e13, 1e13)))

    assert found.code == "WG308"
    assert "that of `w` has a norm of 1e+13" in found.message


def test_exploding_is_silent_on_the_size_of_a_scaled_loss() -> None:
    assert codes(single((65536.0 * 300, 65536.0 * 250, 65536.0 * 270))) == []


def test_normalise_takes_a_huge_gradient_behind_a_division_by_a_root() -> None:
    found = one(single((1e11, 1e11), divides=True))

    assert (found.code, found.certain) == ("WG303", False)
    assert found.primary is not None
    assert found.primary.span == at(6)


def test_normalise_is_silent_on_healthy_sizes() -> None:
    assert codes(single((3.0, 2.0), divides=True)) == []


def two_parts(*, encoder_moves: bool, decoder_moves: bool, given: bool) -> Recording:
    g = GraphBuilder()
    encoder, decoder = g.variable("encoder", shape=(2,)), g.variable("decoder", shape=(2,))
    loss = g.op(OpKind.REDUCE, (g.op(OpKind.SMOOTH, (encoder, decoder), where=at(7)),))
    if given:
        g.update([Pairing(variable=v.id, gradient_of=frozenset({v.id})) for v in (encoder, decoder)])
    return followed(g, loss, {encoder: sizes(moved=encoder_moves), decoder: sizes(moved=decoder_moves)})


def test_never_updated_fires_on_the_part_that_no_update_is_given() -> None:
    found = one(two_parts(encoder_moves=False, decoder_moves=True, given=False))

    assert (found.code, found.certain, found.variables) == ("WG309", True, ("encoder",))
    assert found.message == "`encoder` never moves although it has a gradient: no update is given to it"


def test_never_updated_says_likely_when_an_optimizer_was_given_the_gradient() -> None:
    found = one(two_parts(encoder_moves=False, decoder_moves=False, given=True))

    assert (found.code, found.certain, found.variables) == ("WG309", False, ("encoder", "decoder"))
    assert "their updates likely change nothing" in found.message


def test_never_updated_is_silent_when_gradients_are_only_looked_at() -> None:
    assert codes(two_parts(encoder_moves=False, decoder_moves=False, given=False)) == []


def test_never_updated_is_silent_when_all_moves() -> None:
    assert codes(two_parts(encoder_moves=True, decoder_moves=True, given=True)) == []


def test_overwritten_rows_are_an_error_at_the_write() -> None:
    g = GraphBuilder()
    table = g.variable("table")
    loss = g.op(OpKind.REDUCE, (table,))
    g.event(VariableStep(variable=table.id, where=at(4), rows=3, repeated=2, with_repeats=5, seen=6))
    found = one(g.finish(loss=loss))

    assert found.code == "WG304"
    assert found.message.startswith("2 rows that occur more than once in the gradient of `table` are moved by one")
    assert (found.steps.seen, found.steps.of) == (5, 6)


def test_tables_whose_rows_one_line_overwrites_are_one_finding() -> None:
    g = GraphBuilder()
    users, items = g.variable("users"), g.variable("items")
    loss = g.op(OpKind.REDUCE, (users, items))
    for table, repeated in ((users, 1), (items, 4)):
        g.event(VariableStep(variable=table.id, where=at(4), rows=9, repeated=repeated, with_repeats=1, compiled=True))
    found = one(g.finish(loss=loss))

    assert found.variables == ("users", "items")
    assert found.message.startswith("rows that occur more than once in the gradients of `users` and `items` are moved")
    assert found.notes[0].startswith("4 of 9 rows of `items` are repeated")
    assert found.notes[0].endswith("in a step that was computed again")


def test_rows_that_are_each_overwritten_once_are_silent() -> None:
    g = GraphBuilder()
    table = g.variable("table")
    loss = g.op(OpKind.REDUCE, (table,))
    g.event(VariableStep(variable=table.id, where=at(4), rows=9, seen=1, compiled=True))

    assert codes(g.finish(loss=loss)) == []


def test_rows_that_an_optimizer_misreads_are_a_note_where_they_are_applied() -> None:
    g = GraphBuilder()
    table = g.variable("table")
    loss = g.op(OpKind.REDUCE, (table,))
    g.event(
        VariableStep(variable=table.id, optimizer="Adam", where=at(9), made=at(2), rows=5, repeated=2, difference=0.413)
    )
    [found] = diagnostics(g.finish(loss=loss))

    assert found.primary is not None
    assert found.help is not None
    assert (found.code, found.severity, found.primary.span.line) == ("WG304", Severity.NOTE, 9)
    assert found.message == (
        "`Adam` updates rows of `table` that occur more than once in a batch by a wrong step: 41% off"
    )
    assert "whygrad.deduplicate" in found.help


def ended(norms: tuple[float, ...], losses: tuple[float, ...]) -> Recording:
    """A variable that an optimizer moves, with its gradients and the losses of the steps."""
    recording = single(norms, losses=losses)
    [source] = recording.requests[0].sources
    assert source.variable is not None
    pair = Pairing(variable=source.variable, gradient_of=frozenset({source.variable}))
    return replace(recording, updates=(Update(optimizer="sgd", optimizer_id=1, pairs=(pair,), where=at(9)),))


@pytest.mark.parametrize(
    ("rest", "losses", "told"),
    [
        ((0.0,) * 12, (1.0,) * 12, ["WG301"]),
        ((0.0,) * 12, (0.0,) * 12, []),  # done
        ((0.0,) * 12, (1.0, 0.9) * 6, []),  # other batches have other losses
        ((0.0,) * 11 + (0.1,), (1.0,) * 12, []),  # it comes again
        ((0.0,) * 3, (1.0,) * 3, []),  # too few to say
    ],
)
def test_a_training_whose_gradients_end_at_a_loss_that_stays_is_told(
    rest: tuple[float, ...], losses: tuple[float, ...], told: list[str]
) -> None:
    recording = ended((2.0, 1.5, 1.0, 0.5, *rest), (3.0, 2.5, 2.0, 1.5, *losses))

    assert codes(recording) == told
    if told:
        assert one(recording).message.startswith(
            "the gradient of `w` is exactly zero since step 5, while the loss stays at 1:"
        )
