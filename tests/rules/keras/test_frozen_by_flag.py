from __future__ import annotations

from dataclasses import replace

from rules.diagnosis import at, codes, loud, one
from whygrad.graph import OpKind, Pairing, Variable
from whygrad.graph.build import GraphBuilder
from whygrad.graph.event import FlagSet, ModelTrained


def trained(trainable: tuple[Variable, ...] = (), frozen: tuple[Variable, ...] = (), stale: int = 0) -> ModelTrained:
    return ModelTrained(
        model="model",
        method="fit",
        where=at(9),
        trainable=tuple(each.id for each in trainable),
        frozen=tuple(each.id for each in frozen),
        stale=stale,
    )


def flag(value: bool, *variables: Variable) -> FlagSet:
    return FlagSet(layer="base", value=value, where=at(4), variables=tuple(each.id for each in variables))


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
    w = g.variable("w")
    g.event(flag(True, w))
    g.event(trained(trainable=(w,), stale=1))

    assert codes(g.finish()) == ["WG208"]


def test_fires_when_a_layer_is_thawed_inside_a_frozen_one() -> None:
    g = GraphBuilder()
    inner, head = g.variable("inner"), g.variable("head")
    g.event(flag(False, inner))
    g.event(flag(True, inner))
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (inner, head)), sources=[head]))

    assert found.code == "WG208"
    assert found.message == "`base` was set trainable, but `inner` is in no list that is trained"


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


def test_silent_when_nothing_went_stale() -> None:
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
    g.event(trained(trainable=(g.variable("head"),), frozen=(w,), stale=1))
    found = one(g.finish())

    assert found.primary is not None
    assert found.primary.span == at(4)
    assert [label.span for label in found.related] == [at(9)]


def compiled_before(variable: Variable, layer: str) -> tuple[FlagSet, ModelTrained]:
    """A framework that trains what was trainable when it compiled; a flag was set since."""
    event = replace(trained(trainable=(variable,)), as_compiled=True, frozen_since_compile=(variable.id,))
    return replace(flag(False, variable), layer=layer), event


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


def test_silent_when_the_variable_was_frozen_after_its_last_update() -> None:
    g = GraphBuilder()
    w = g.variable("w", trainable=False)
    g.update([Pairing(variable=w.id, gradient_of=frozenset({w.id}))])

    assert codes(g.finish()) == []


def test_fires_at_a_flag_that_a_running_training_takes_no_notice_of() -> None:
    g = GraphBuilder()
    w, head = g.variable("w"), g.variable("head")
    g.event(replace(flag(True, w), without_effect="model"))
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
    g.event(replace(flag(True, w), without_effect="model"))
    g.update([(w, w)])

    assert codes(g.finish()) == []
