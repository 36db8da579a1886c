from __future__ import annotations

from dataclasses import replace

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, FailureKind, Held, Operand, OpKind, Pairing, Recording, Variable
from whygrad.graph.failure import Failure
from whygrad.source import SourceSpan


def summed(moved: Variable, *of: Variable, mixed: SourceSpan | None = None, requests: int = 4) -> Pairing:
    """The sum of the gradients of some variables, applied to one."""
    numbers = frozenset(each.id for each in of)
    return Pairing(variable=moved.id, gradient_of=numbers, mixed=mixed, summed=at(6), requests=requests)


def test_fires_where_the_gradient_of_another_variable_is_added() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([summed(a, a, b, mixed=at(6)), summed(b, b)], where=at(8))
    found = one(g.finish())

    assert found.code == "WG503"
    assert found.message == "gradients of different variables are added up in one accumulator: `a` and `b`"
    assert found.primary is not None
    assert (found.primary.span, [label.span for label in found.related]) == (at(6), [at(8)])


def test_fires_once_and_names_all_that_one_line_mixes_in_whatever_accumulator_and_update() -> None:
    g = GraphBuilder()
    a, b, c = (g.variable(name) for name in "abc")
    g.update([summed(a, a, b, mixed=at(6)), summed(b, b, a, mixed=at(6))], where=at(8), seen=2)
    g.update([summed(b, b, c, mixed=at(6))], where=at(8))
    found = one(g.finish())

    assert found.variables == ("a", "b", "c")
    assert "in the same accumulators" in found.message
    assert (found.steps.seen, found.steps.of) == (3, 3)


def test_silent_when_each_accumulator_holds_the_gradients_of_one_variable() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([summed(a, a), summed(b, b)], where=at(8))

    assert codes(g.finish()) == []


def test_silent_when_the_gradients_of_several_networks_are_averaged_for_another_one() -> None:
    g = GraphBuilder()
    a, b, mean = (g.variable(name) for name in ("a", "b", "mean"))
    g.update([summed(mean, a, b, mixed=at(6))], where=at(8))

    assert "WG503" not in codes(g.finish())


REFUSED = "Cannot update variable with shape [6,1] using a Tensor with shape [4,6], shapes must be equal."


def thawed(*now: str, line: int = 6, message: str = REFUSED, elsewhere: bool = False) -> Recording:
    """Gradients of the head were added up and applied; then the list became another, and the sum raises."""
    g = GraphBuilder()
    made = {name: g.variable(name) for name in ("base/kernel", "head/kernel", "head/bias")}
    loss = g.op(OpKind.SMOOTH, tuple(made.values()))
    head = [made["head/kernel"], made["head/bias"]]
    g.request(loss, head, where=at(5), seen=4)
    g.update([summed(each, each) for each in head], where=at(8))
    g.op(OpKind.SMOOTH, ())
    g.request(loss, [made[name] for name in now], where=at(4 if elsewhere else 5))
    return g.finish(failure=Failure(type_name="InvalidArgumentError", message=message, where=at(line)))


def test_fires_as_likely_when_a_sum_raises_after_the_list_has_become_another() -> None:
    found = one(thawed("base/kernel", "head/kernel", "head/bias"))

    assert (found.code, found.severity, found.certain) == ("WG503", Severity.WARNING, False)
    assert found.variables == ("base/kernel", "head/kernel", "head/bias")
    assert found.primary is not None
    assert (found.primary.span, [label.span for label in found.related]) == (at(6), [at(5)])


@pytest.mark.parametrize(
    "recording",
    [
        thawed("head/kernel", "head/bias"),
        thawed("head/kernel", "head/bias", "base/kernel"),
        thawed("base/kernel", "head/kernel", line=7),
        thawed("base/kernel", "head/kernel", message="out of memory"),
        thawed("base/kernel", "head/kernel", elsewhere=True),
    ],
    ids=["the same list", "longer at its end", "raised elsewhere", "for another reason", "asked for elsewhere"],
)
def test_silent_when_what_raises_is_no_sum_of_a_list_that_has_moved(recording: Recording) -> None:
    assert codes(recording) == []


def met(kind: FailureKind, *operands: Operand, action: Action | None = Action.ADD) -> Failure:
    """The program died where these met."""
    return Failure(type_name="ValueError", message="", kind=kind, action=action, where=at(6), operands=operands)


def holding(expression: str, *of: Variable, is_list: bool = False) -> Operand:
    held = tuple(Held(gradient_of=frozenset({each.id})) for each in of)
    return Operand(expression=expression, held=held, is_list=is_list)


def died(g: GraphBuilder, failure: Failure) -> Recording:
    return replace(g.finish(), failure=failure)


def test_fires_when_the_program_dies_of_two_gradients_of_different_variables() -> None:
    g = GraphBuilder()
    a, b = g.variable("a", created=at(1)), g.variable("b", created=at(2))
    found = one(died(g, met(FailureKind.SHAPES_DIFFER, holding("x", a), holding("y", b))))

    assert (found.code, found.variables) == ("WG503", ("b", "a"))
    assert found.primary is not None
    assert found.primary.text == "`x` is of `a`, `y` of `b`"


def test_fires_when_the_program_dies_of_lists_of_unequal_length() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    operands = holding("total", a, is_list=True), holding("new", a, b, is_list=True)
    found = one(died(g, met(FailureKind.LENGTHS_DIFFER, *operands, action=None)))

    assert (found.code, found.variables) == ("WG503", ("b",))


def test_variables_that_the_same_line_made_anew_are_recreated() -> None:
    g = GraphBuilder()
    a, b = g.variable("a", created=at(1)), g.variable("a", created=at(1))

    assert one(died(g, met(FailureKind.SHAPES_DIFFER, holding("x", a), holding("y", b)))).code == "WG203"


def test_a_gradient_that_was_to_move_another_variable_is_misrouted() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.request(g.op(OpKind.SMOOTH, (a, b)), [a, b])
    moved = Operand(expression="v", held=(Held(variable=b.id),))
    found = one(died(g, met(FailureKind.SHAPES_DIFFER, moved, holding("g", a), action=Action.INCREMENT)))

    assert (found.code, found.variables) == ("WG206", ("b",))


@pytest.mark.parametrize("action", [Action.MULTIPLY, None])
def test_silent_when_the_shapes_of_gradients_differ_in_no_sum(action: Action | None) -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")

    assert codes(died(g, met(FailureKind.SHAPES_DIFFER, holding("x", a), holding("y", b), action=action))) == []


def test_silent_when_both_gradients_are_of_one_variable() -> None:
    g = GraphBuilder()
    a = g.variable("a")

    assert codes(died(g, met(FailureKind.SHAPES_DIFFER, holding("x", a), holding("y", a)))) == []
