from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind, Pairing, Variable


def made_in_each_step(g: GraphBuilder, steps: int = 3) -> list[Variable]:
    return [g.variable("w", created=at(4), made_in_step=step) for step in range(steps)]


def test_fires_when_one_optimizer_meets_the_variables_of_several_steps() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
        g.update([(w, w)], where=at(7))
    found = one(g.finish())

    assert found.code == "WG203"
    assert found.message == "this line created 3 variables in 3 steps: nothing that one learned is kept"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_fires_when_their_gradients_are_added_up() -> None:
    g = GraphBuilder()
    first, second = made_in_each_step(g, 2)
    for w in (first, second):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
    both = frozenset({first.id, second.id})
    g.update([Pairing(variable=second.id, gradient_of=both)], where=at(8))

    assert codes(g.finish()) == ["WG203"]


def test_fires_when_a_layer_is_made_in_every_step_and_never_asked_for() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    for fresh in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w, fresh)), [w], where=at(6))
    g.update([(w, w)])

    assert codes(g.finish()) == ["WG203"]


def test_fires_when_each_is_updated_by_hand_after_its_only_gradient() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
        g.update([(w, w)], optimizer="AssignSub", optimizer_id=0, where=at(7))

    assert codes(g.finish()) == ["WG203"]


def test_silent_when_two_are_updated_by_hand() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g, 2):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
        g.update([(w, w)], optimizer="AssignSub", optimizer_id=0, where=at(7))

    assert codes(g.finish()) == []


def test_silent_when_each_is_trained_for_many_steps_by_hand() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6), seen=50)
        g.update([(w, w)], optimizer="AssignSub", optimizer_id=0, where=at(7), seen=50)

    assert codes(g.finish()) == []


def test_silent_when_what_is_made_in_each_step_is_used_outside_the_tape() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    for fresh in made_in_each_step(g):
        with g.outside():
            g.op(OpKind.SMOOTH, (fresh,))
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))

    assert codes(g.finish()) == []


def test_silent_when_one_step_makes_many() -> None:
    g = GraphBuilder()
    stack = [g.variable(f"w{number}", created=at(4)) for number in range(3)]
    g.request(g.op(OpKind.SMOOTH, stack), where=at(6))
    g.update([(w, w) for w in stack])

    assert codes(g.finish()) == []


def test_silent_when_the_variables_of_all_steps_are_trained_together() -> None:
    g = GraphBuilder()
    ensemble = made_in_each_step(g)
    g.request(g.op(OpKind.SMOOTH, ensemble), where=at(6))
    g.update([(w, w) for w in ensemble])

    assert codes(g.finish()) == []


def test_silent_when_each_is_made_for_one_derivative_and_thrown_away() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))

    assert codes(g.finish()) == []


def test_silent_when_each_has_an_optimizer_of_its_own() -> None:
    g = GraphBuilder()
    for number, w in enumerate(made_in_each_step(g, 2), 1):
        for _ in range(2):
            g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6), seen=50)
        g.update([(w, w)], optimizer_id=number, where=at(7), seen=100)

    assert codes(g.finish()) == []


def test_silent_when_the_variables_are_counters() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    for step in range(3):
        count = g.variable("count", trainable=False, created=at(4), made_in_step=step)
        g.request(g.op(OpKind.SMOOTH, (w, count)), [w], where=at(6))

    assert codes(g.finish()) == []


@pytest.mark.parametrize("often", [{"seen": 4}, {"seen": 1, "runs": 4}])
def test_silent_when_each_is_updated_several_times_before_the_next_is_made(often: dict[str, int]) -> None:
    g = GraphBuilder()
    first, second = (g.variable("w", created=at(4), made_in_step=step) for step in (0, 4))
    for w, times in ((first, often), (second, {})):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
        g.update([(w, w)], where=at(7), unknown=[w] if w is second else [], **times)

    assert codes(g.finish()) == ["WG205"]


def test_fires_when_a_compiled_update_ran_once_for_each() -> None:
    g = GraphBuilder()
    for w in made_in_each_step(g):
        g.request(g.op(OpKind.SMOOTH, (w,)), [w], where=at(6))
        g.update([(w, w)], where=at(7), seen=2, runs=1)

    assert codes(g.finish()) == ["WG203"]
