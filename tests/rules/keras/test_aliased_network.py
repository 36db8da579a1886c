from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, OpKind, Recording, Variable
from whygrad.graph.ledger import Ledger, Write, WriterKind
from whygrad.graph.objects import AttributeSet, Call, Given, ListRead, ObjectCalled

AGENT = """
network = make_network()
{target} = {value}
backup = target(x)
loss = network(x) - backup
"""


def called_twice(
    folder: Path, *variables: Variable, target: str = "target", value: str = "network", taped: bool = False
) -> ObjectCalled:
    """A network that is called as `network`, under a tape, and as `target`, after an assignment."""
    script = Script(folder, AGENT.format(target=target, value=value))
    places = (script["target(x)"], script["network(x)"])
    return ObjectCalled(
        name="network",
        variables=tuple(variable.id for variable in variables),
        calls=(Call(where=places[0], taped=taped), Call(where=places[1])),
    )


def test_fires_when_one_loss_uses_the_network_with_and_without_a_gradient(tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,), where=at(5))
    loss = g.op(OpKind.SMOOTH, (w, backup), where=at(7))
    event = called_twice(tmp_path, w)
    g.event(event)
    found = one(g.finish(loss=loss))

    assert (found.code, found.severity, found.certain) == ("WG209", Severity.WARNING, False)
    assert found.message == "`target` and `network` are likely meant to be two networks, but are one"
    assert found.primary is not None
    assert found.primary.span.line == 2
    assert [label.span for label in found.related] == [call.where for call in event.calls]


def test_fires_when_the_second_use_is_stopped(tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (w, g.op(OpKind.STOP, (w,))))
    g.event(called_twice(tmp_path, w, taped=True))

    assert codes(g.finish(loss=loss)) == ["WG209"]


def test_silent_when_one_name_alone_makes_the_fixed_value_and_the_other_is_for_evaluation(tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (w, g.op(OpKind.STOP, (w,))))
    g.event(called_twice(tmp_path, w))

    assert codes(g.finish(loss=loss)) == []


def test_silent_when_both_uses_carry_a_gradient(tmp_path: Path) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(called_twice(tmp_path, w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, w)))) == []


def test_silent_when_the_two_names_meet_in_no_loss(tmp_path: Path) -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    with g.outside():
        g.op(OpKind.SMOOTH, (w,))
    g.event(called_twice(tmp_path, w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (other,)), sources=[other])) == []


def test_silent_when_the_network_is_not_trained_by_that_loss(tmp_path: Path) -> None:
    g = GraphBuilder()
    w, other = g.variable("w"), g.variable("other")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,))
    g.event(called_twice(tmp_path, w))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (other, backup)), sources=[other])) == []


@pytest.mark.parametrize(("target", "value"), [("other", "network"), ("target", "copy_of(network)")])
def test_silent_when_neither_name_was_assigned_from_the_other(tmp_path: Path, target: str, value: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    with g.outside():
        backup = g.op(OpKind.SMOOTH, (w,))
    g.event(called_twice(tmp_path, w, target=target, value=value))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (w, backup)))) == []


def made_in(folder: Path, list_of: str, *, made: str = "Dense(4)", in_a_pass: int = 3) -> Recording:
    """A layer that is called so many times in one pass, made inside an expression, by a function if it is `make()`."""
    script = Script(folder, f"blocks = {list_of}\ndef make():\n    return Block()")
    places = (script["Block()"], script["make()"]) if made == "make()" else (script[made],)
    g = GraphBuilder()
    kernel, statistics = g.variable("block/kernel"), g.variable("block/mean", trainable=False)
    g.holder("block", [kernel, statistics])
    g.event(ObjectCalled(name="block", variables=(kernel.id,), made=places, most_in_a_pass=in_a_pass))
    return g.finish()


@pytest.mark.parametrize(
    ("list_of", "made", "in_a_pass"),
    [
        ("[Dense(4)] * 3", "Dense(4)", 1),
        ("[Dense(4)] * depth", "Dense(4)", 3),
        ("depth * (Dense(4),)", "Dense(4)", 2),
        ("dict.fromkeys(names, Dense(4))", "Dense(4)", 2),
        ("[make()] * depth", "make()", 3),
    ],
)
def test_fires_for_a_list_that_repeats_what_it_holds(tmp_path: Path, list_of: str, made: str, in_a_pass: int) -> None:
    found = one(made_in(tmp_path, list_of, made=made, in_a_pass=in_a_pass))

    assert (found.code, found.certain) == ("WG209", False)
    assert found.variables == ("block/kernel", "block/mean")
    assert found.primary is not None
    assert found.primary.text == "repeats the object, does not make new ones"


@pytest.mark.parametrize(
    ("list_of", "made", "in_a_pass"),
    [
        ("[Dense(4)] * depth", "Dense(4)", 1),
        ("[Dense(4)] * 1", "Dense(4)", 1),
        ("[make()] * depth", "make()", 1),
        ("[Dense(4) for _ in range(3)]", "Dense(4)", 3),
        ("[Dense(4)] + others * 3", "Dense(4)", 3),
    ],
)
def test_silent_where_the_list_repeats_nothing(tmp_path: Path, list_of: str, made: str, in_a_pass: int) -> None:
    assert codes(made_in(tmp_path, list_of, made=made, in_a_pass=in_a_pass)) == []


@pytest.mark.parametrize(("times", "reads", "found"), [("3", 1, 1), ("n", 2, 1), ("n", 1, 0)])
def test_a_repeated_variable_is_known_by_how_often_one_expression_reads_it(
    tmp_path: Path, times: str, reads: int, found: int
) -> None:
    script = Script(tmp_path, f"weights = [tf.Variable(1.0)] * {times}")
    g = GraphBuilder()
    w = g.variable("w", created=script["tf.Variable(1.0)"])
    loss = g.op(OpKind.SMOOTH, (w,), where=at(5))
    for _ in range(reads - 1):
        loss = g.op(OpKind.SMOOTH, (w, loss), where=at(5))

    assert codes(g.finish(loss=loss)) == ["WG209"] * found


def copied(to_the_same: bool) -> Recording:
    g = GraphBuilder()
    mine, other = g.variable("mine"), g.variable("other")
    source = mine if to_the_same else other
    g.event(
        AttributeSet(
            owner="target",
            attribute="weights",
            given=Given.WEIGHTS,
            where=at(6),
            made=at(5),
            variables=(mine.id,),
            source="online",
            source_variables=(source.id,),
        )
    )
    return g.finish()


def test_fires_when_weights_are_copied_onto_themselves() -> None:
    found = one(copied(to_the_same=True))

    assert found.message == "`target` and `online` have the very same variables: they are one network"
    assert found.primary is not None
    assert found.primary.span == at(5)
    assert [label.span for label in found.related] == [at(6)]


def test_silent_when_weights_are_copied_to_another_network() -> None:
    assert codes(copied(to_the_same=False)) == []


def trained_by(folder: Path, *optimizers: int) -> Recording:
    """A network made by a function inside a list that is multiplied, and trained at one place."""
    script = Script(folder, "nets = [make()] * n\ndef make():\n    return Block()")
    g = GraphBuilder()
    kernel = g.variable("block/kernel")
    g.event(ObjectCalled(name="block", variables=(kernel.id,), made=(script["Block()"], script["make()"])))
    for number in optimizers:
        g.update([(kernel, kernel)], optimizer_id=number, where=at(7))
    return g.finish()


def test_fires_when_one_network_of_a_list_is_trained_by_an_optimizer_for_each(tmp_path: Path) -> None:
    assert codes(trained_by(tmp_path, 1, 2)) == ["WG209"]


def test_silent_when_one_optimizer_trains_what_the_list_shares(tmp_path: Path) -> None:
    assert codes(trained_by(tmp_path, 1)) == []


AVERAGED = """
student_list = student.trainable_variables
for t, s in zip(teacher.trainable_variables, student_list):
    t.assign(0.9 * t + 0.1 * s)
"""


@pytest.mark.parametrize(("is_one", "found"), [(True, ["WG209"]), (False, [])])
def test_fires_when_a_loop_writes_from_one_list_to_another_of_the_same_variables(
    tmp_path: Path, is_one: bool, found: list[str]
) -> None:
    script = Script(tmp_path, AVERAGED)
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy")
    held = {"student": w, "teacher": w if is_one else copy}
    for owner, variable in held.items():
        where = script[f"{owner}.trainable_variables"]
        g.event(ListRead(owner=owner, attribute="trainable_variables", where=where, held=(variable.id,)))
    place = script["t.assign(0.9 * t + 0.1 * s)"]
    write = Write(variable=held["teacher"].id, kind=WriterKind.USER, writer="", method="assign", where=place)
    ledger = Ledger(variables={w.id: "w", copy.id: "copy"}, writes=(write,), steps=4)

    assert codes(replace(g.finish(), ledger=ledger)) == found


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("inputs", ["same", "other"])
def test_two_heads_of_the_same_layers_are_one_where_they_get_the_same_input(shared: bool, inputs: str) -> None:
    g = GraphBuilder()
    one_kernel, x, z = g.variable("kernel"), g.constant(), g.constant()
    other_kernel = one_kernel if shared else g.variable("second")
    first = g.op(OpKind.CONTRACT, (x, one_kernel), layers=("model", "first"))
    second = g.op(OpKind.CONTRACT, (x if inputs == "same" else z, other_kernel), layers=("model", "second"))
    g.event(ObjectCalled(name="first", variables=(one_kernel.id,), made=(at(3),)))
    g.event(ObjectCalled(name="second", variables=(other_kernel.id,), made=(at(4),)))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (first, second)))

    if not shared or inputs == "other":
        assert codes(recording) == []
        return
    found = one(recording)
    assert (found.code, found.certain, found.variables) == ("WG209", False, ("kernel",))
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_a_network_inside_another_one_is_not_a_second_one() -> None:
    g = GraphBuilder()
    kernel, x = g.variable("kernel"), g.constant()
    product = g.op(OpKind.CONTRACT, (x, kernel), layers=("outer", "inner"))
    g.event(ObjectCalled(name="outer", variables=(kernel.id,), made=(at(4),)))
    g.event(ObjectCalled(name="inner", variables=(kernel.id,), made=(at(3),)))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (product,)))) == []


@pytest.mark.parametrize(("same", "writes"), [(True, 0), (False, 0), (True, 2)])
def test_a_variable_that_is_taken_from_itself_likely_has_two_names(same: bool, writes: int) -> None:
    g = GraphBuilder()
    now = g.variable("now", writes=writes)
    before = now if same else g.variable("before")
    drift = g.op(OpKind.ELEMENTWISE, (now, before), action=Action.SUBTRACT, where=at(5))
    found = codes(g.finish(loss=g.op(OpKind.SMOOTH, (drift, now))))

    assert found == (["WG209"] if same and not writes else [])


@pytest.mark.parametrize(
    ("assignment", "shown"),
    [("target = online", "target = online"), ("target = kept()", "target.set_weights(online.get_weights())")],
)
def test_fires_when_a_second_name_makes_a_copy_one_onto_itself(tmp_path: Path, assignment: str, shown: str) -> None:
    g = GraphBuilder()
    w = g.variable("w")
    script = Script(tmp_path, f"{assignment}\ntarget.set_weights(online.get_weights())")
    g.event(
        AttributeSet(
            owner="online",
            attribute="weights",
            given=Given.WEIGHTS,
            where=script["target.set_weights(online.get_weights())"],
            variables=(w.id,),
            source="online",
            source_variables=(w.id,),
        )
    )
    found = one(g.finish())

    assert found.message == "`target` and `online` are one network: its weights are copied onto themselves"
    assert found.primary is not None
    assert found.primary.span == script[shown]
