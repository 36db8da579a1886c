from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, loud, one
from whygrad.graph import OpKind, Pairing, Recording, Variable
from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
from whygrad.graph.objects import AttributeSet, Given, Trained


def trained(
    trainable: tuple[Variable, ...] = (),
    frozen: tuple[Variable, ...] = (),
    when_made: tuple[Variable, ...] | None = None,
) -> Trained:
    """`fit`, with a training step that was made when these were trainable; None: it is made now."""
    there = {each.id for each in (*trainable, *frozen, *(when_made or ()))}
    return Trained(
        model="model",
        where=at(9),
        trainable=tuple(each.id for each in trainable),
        frozen=tuple(each.id for each in frozen),
        trainable_when_made=None if when_made is None else tuple(each.id for each in when_made),
        known_when_made=() if when_made is None else tuple(there),
    )


def flag(value: bool, *variables: Variable) -> AttributeSet:
    given = Given.TRUE if value else Given.FALSE
    numbers = tuple(each.id for each in variables)
    return AttributeSet(owner="base", attribute="trainable", given=given, where=at(4), variables=numbers)


def test_fires_at_the_flag_when_a_model_has_nothing_left_to_train() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.event(flag(False, w))
    g.event(trained(frozen=(w,)))
    found = one(g.finish())

    assert found.code == "WG208"
    assert found.message == "`model` is trained but has nothing to train: `trainable` is False for all its weights"
    assert found.primary is not None
    assert found.primary.span == at(4)
    assert [label.span for label in found.related] == [at(9)]


def test_fires_at_the_training_when_the_flag_was_not_seen() -> None:
    g = GraphBuilder()
    g.event(trained(frozen=(g.variable("w", trainable=False),)))
    found = one(g.finish())

    assert found.primary is not None
    assert (found.primary.span, found.related) == (at(9), ())


def test_fires_when_frozen_variables_are_updated_all_the_same() -> None:
    g = GraphBuilder()
    w, head = g.variable("w", trainable=False, watchable=True), g.variable("head")
    g.update([(w, w), (head, head)], where=at(7))
    found = one(g.finish())

    assert found.code == "WG208"
    assert found.variables == ("w",)
    assert found.primary is not None
    assert found.primary.span == at(7)


def test_fires_when_a_flag_changed_after_the_step_was_compiled() -> None:
    g = GraphBuilder()
    w, head = g.variable("w"), g.variable("head")
    g.event(flag(True, w))
    g.event(trained(trainable=(w, head), when_made=(head,)))
    found = one(g.finish())

    assert found.code == "WG208"
    assert found.message == "`trainable` of `w` changed after `model` was compiled and trained"
    assert found.variables == ("w",)


def test_silent_when_the_step_was_made_for_the_flags_as_they_are() -> None:
    g = GraphBuilder()
    w, head = g.variable("w", trainable=False), g.variable("head")
    g.event(flag(False, w))
    g.event(trained(trainable=(head,), frozen=(w,), when_made=(head,)))

    assert codes(g.finish()) == []


def test_silent_when_what_the_step_trained_is_no_part_of_the_model_any_more() -> None:
    g = GraphBuilder()
    gone, fresh = g.variable("gone"), g.variable("fresh")
    g.event(replace(trained(trainable=(fresh,), when_made=(gone,)), known_when_made=(gone.id,)))

    assert codes(g.finish()) == []


def test_fires_when_a_layer_is_thawed_inside_a_frozen_one() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.event(flag(False, inner))
    g.event(flag(True, inner))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (inner, head)), sources=[head]))

    assert found.code == "WG208"
    assert found.message == "`base` was set trainable, but `inner` is not in any list that is trained"


def test_silent_when_the_thawed_layer_is_trained() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.event(flag(False, inner))
    g.event(flag(True, inner))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (inner, head)))) == []


def test_silent_when_the_model_has_something_to_train() -> None:
    g = GraphBuilder()
    base, head = g.variable("base", trainable=False), g.variable("head")
    g.event(flag(False, base))
    g.event(trained(trainable=(head,), frozen=(base,)))

    assert codes(g.finish()) == []


def test_silent_when_a_model_has_no_weights_at_all() -> None:
    g = GraphBuilder()
    g.event(trained())

    assert codes(g.finish()) == []


def test_silent_when_what_is_frozen_is_left_alone() -> None:
    g = GraphBuilder()
    base, head = g.variable("base", trainable=False), g.variable("head")
    g.event(flag(False, base))
    g.update([(head, head)])

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (base, head)))) == []


def test_silent_when_the_gradient_of_what_is_frozen_was_none() -> None:
    g = GraphBuilder()
    base, head = g.variable("base", trainable=False), g.variable("head")
    g.update([(base, None), (head, head)])

    assert codes(g.finish()) == []


def test_silent_when_the_flag_was_set_before_the_step_was_made() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(flag(True, w))
    g.event(trained(trainable=(w,)))

    assert codes(g.finish()) == []


def test_silent_when_the_thawed_layer_is_not_used_by_any_loss() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.event(flag(True, inner))
    with g.outside():
        g.op(OpKind.SMOOTH, (inner,))

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (head,)), sources=[head])) == []


def test_silent_when_the_layer_was_thawed_after_training() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.request(g.op(OpKind.SMOOTH, (inner, head)), [head], where=at(5))
    g.event(replace(flag(True, inner), order=99))

    assert codes(g.finish()) == []


def test_names_the_flag_that_froze_this_model_and_no_other() -> None:
    g = GraphBuilder()
    w, other = g.variable("w", trainable=False), g.variable("other", trainable=False)
    g.event(flag(False, w))
    g.event(replace(flag(False, other), where=at(6)))
    g.event(replace(flag(True, w), where=at(7)))
    g.event(trained(frozen=(w,)))
    found = [each for each in loud(g.finish()) if "nothing to train" in each.message]

    assert [each.primary.span for each in found if each.primary] == [at(4)]


def test_shows_both_the_flag_and_the_stale_training() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.event(flag(False, w))
    head = g.variable("head")
    g.event(trained(trainable=(head,), frozen=(w,), when_made=(head, w)))
    found = one(g.finish())

    assert found.primary is not None
    assert found.primary.span == at(4)
    assert [label.span for label in found.related] == [at(9)]


def test_names_what_was_frozen_and_what_was_thawed_since_the_step_was_made() -> None:
    g = GraphBuilder()
    names = ("base/kernel", "base/bias", "head/kernel", "tail/kernel")
    kernel, bias, head, tail = (g.variable(name) for name in names)
    g.event(trained(trainable=(tail, head), frozen=(kernel, bias), when_made=(kernel, bias, head)))

    assert one(g.finish()).variables == ("tail/kernel", "base/kernel", "base/bias")


def compiled_before(variable: Variable, layer: str) -> tuple[AttributeSet, Trained]:
    """A framework that trains what was trainable when it compiled; a flag was set since."""
    event = trained(frozen=(variable,))
    event = replace(event, trains_as_compiled=True, trainable_when_compiled=(variable.id,))
    return replace(flag(False, variable), owner=layer), event


def test_fires_when_a_layer_is_frozen_after_compiling_without_effect() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    for event in compiled_before(w, "base"):
        g.event(event)
    found = one(g.finish())

    assert found.code == "WG208"
    assert found.message == "`base.trainable = False` came after `model` was compiled and has no effect on it"
    assert found.variables == ("w",)


def test_silent_when_the_whole_model_is_frozen_after_compiling_as_in_a_gan() -> None:
    g = GraphBuilder()
    for event in compiled_before(g.variable("w"), "model"):
        g.event(event)

    assert codes(g.finish()) == []


def test_silent_when_the_flag_was_set_before_compiling() -> None:
    g = GraphBuilder()
    w, head = g.variable("w", trainable=False), g.variable("head")
    g.event(flag(False, w))
    event = trained(trainable=(head,), frozen=(w,))
    g.event(replace(event, trains_as_compiled=True, trainable_when_compiled=(head.id,)))

    assert codes(g.finish()) == []


def test_silent_when_the_model_got_its_variables_after_compiling() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(flag(True, w))
    g.event(replace(trained(trainable=(w,)), trains_as_compiled=True, trainable_when_compiled=None))

    assert codes(g.finish()) == []


def test_silent_when_the_variable_was_frozen_after_its_last_update() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.update([Pairing(variable=w.id, gradient_of=frozenset({w.id}))])

    assert codes(g.finish()) == []


def test_fires_at_a_flag_that_a_running_training_takes_no_notice_of() -> None:
    g = GraphBuilder()
    w, head = g.variable("w"), g.variable("head")
    g.event(replace(flag(True, w), ran_on="model"))
    g.update([(head, head)])
    found = one(g.finish())

    assert found.message == (
        "`base.trainable = True` while `model` is being trained has no effect: `w` is still not trained"
    )
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_silent_when_the_running_training_moves_the_thawed_variable() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(flag(True, w), ran_on="model"))
    g.update([(w, w)])

    assert codes(g.finish()) == []


def ledger_of(w: Variable, last: int) -> Ledger:
    """An optimizer's compiled step wrote to a variable until some step."""
    stretch = Stretch(1, last)
    write = Write(
        variable=w.id, kind=WriterKind.OPTIMIZER, writer="sgd", method="assign_sub", steps=(stretch,), compiled=True
    )
    return Ledger(variables={w.id: "w"}, writes=(write,), steps=last)


def thawed_while_training(set_at: int, last: int) -> list[str]:
    """A variable that was trained before, until some step, and is thawed at another while a model is in training."""
    g = GraphBuilder()
    w = g.variable("w")
    g.event(replace(flag(True, w), ran_on="model", step=set_at))
    g.update([(w, w)])
    return codes(replace(g.finish(), ledger=ledger_of(w, last)))


def test_fires_when_only_an_earlier_training_moved_the_thawed_variable() -> None:
    assert thawed_while_training(set_at=6, last=6) == ["WG208"]


def test_silent_when_the_thawed_variable_is_moved_after_the_flag() -> None:
    assert thawed_while_training(set_at=6, last=9) == []


def compiled_update(set_at: int, last: int) -> Recording:
    """A variable that a compiled step of the user's own updated until some step, frozen at another."""
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.event(replace(flag(False, w), step=set_at))
    g.update([Pairing(variable=w.id, gradient_of=frozenset({w.id}))], where=at(7))
    return replace(g.finish(), ledger=ledger_of(w, last))


def test_fires_at_the_flag_that_came_after_the_step_was_compiled() -> None:
    found = one(compiled_update(set_at=3, last=6))

    assert found.message == "`w` updated although `trainable` is False: the step was compiled before the flag was set"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_silent_when_the_compiled_step_ran_no_more_after_the_flag() -> None:
    assert codes(compiled_update(set_at=6, last=6)) == []


def thawed_around(*flags: AttributeSet) -> list[str]:
    g = GraphBuilder()
    inner, outer = g.variable("inner", trainable=False), g.variable("outer")
    for each in flags:
        g.event(replace(each, variables=(inner.id, outer.id) if each.owner == "model" else (inner.id,)))
    g.event(replace(trained(trainable=(outer,), frozen=(inner,)), order=9))
    return [each.message for each in loud(g.finish())]


def test_fires_when_a_model_is_thawed_around_a_part_that_stays_frozen() -> None:
    freeze, thaw = flag(False), replace(flag(True), owner="model", where=at(6))

    assert thawed_around(freeze, thaw) == [
        "`model` was set trainable, but `inner` is still frozen: the flag of `model` was True already, so Keras passes "
        "nothing on"
    ]


def test_silent_when_the_part_is_frozen_after_the_model_was_thawed() -> None:
    assert thawed_around(replace(flag(True), owner="model"), flag(False)) == []


def test_silent_when_the_flag_was_set_before_the_compiled_step_ran_at_all() -> None:
    assert codes(compiled_update(set_at=0, last=6)) == []


def test_silent_when_what_is_frozen_is_given_the_gradient_of_another() -> None:
    g = GraphBuilder()
    w, head = g.variable("w", trainable=False, watchable=True), g.variable("head")
    g.update([Pairing(variable=w.id, gradient_of=frozenset({head.id}), frozen=True)], where=at(7))

    assert "WG208" not in codes(g.finish())


def test_fires_when_a_layer_that_an_earlier_training_moved_is_thawed_inside_a_frozen_one() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.request(g.op(OpKind.SMOOTH, (inner, head)))
    g.update([(inner, inner), (head, head)])
    later = g.op(OpKind.SMOOTH, (inner, head))
    g.event(flag(False, inner))
    g.event(replace(flag(True, inner), order=1, step=6))
    recording = g.finish(loss=later, sources=[head])
    first, second = recording.requests
    recording = replace(recording, requests=(replace(first, order=0), replace(second, order=2)))

    assert codes(replace(recording, ledger=ledger_of(inner, last=6))) == ["WG208"]
