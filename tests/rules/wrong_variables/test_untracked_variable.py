from __future__ import annotations

from dataclasses import replace

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, notes, one
from whygrad.graph import Ledger, OpKind, Recording
from whygrad.graph.ledger import Write, WriterKind
from whygrad.graph.objects import ListRead


def test_fires_when_a_layer_holds_a_variable_that_its_lists_do_not_have() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    factor = g.variable("factor", owner="Scale", attribute="factor", tracked=False, created=at(4))
    loss = g.op(OpKind.SMOOTH, (kernel, factor))
    found = one(g.finish(loss=loss, sources=[kernel]))

    assert found.code == "WG201"
    assert found.message == "`Scale` does not track `factor`: it is used in training, but no optimizer updates it"
    assert found.primary is not None
    assert found.primary.span == at(4)


def test_says_that_a_plain_variable_is_not_tracked_where_that_is_the_reason() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    factor = g.variable("factor", owner="Scale", attribute="factor", tracked=False, foreign=True)
    found = one(g.finish(loss=g.op(OpKind.SMOOTH, (kernel, factor)), sources=[kernel]))

    assert found.message.startswith("`Scale` does not track `factor`: a plain `tf.Variable` attribute is not")
    assert found.help == "make it with `self.add_weight(...)`, or as a `keras.Variable` attribute"


def test_advises_to_keep_the_layer_where_a_layer_is_what_the_model_does_not_know() -> None:
    g = GraphBuilder()
    kernel, hidden = g.variable("kernel"), g.variable("hidden/kernel", owner="Dense", attribute="kernel")
    g.holder("model", [kernel])
    found = one(g.finish(loss=g.op(OpKind.CONTRACT, (kernel, hidden), layers=("model",)), sources=[kernel]))

    assert found.help is not None
    assert found.help.startswith("keep the `Dense` that holds it as an attribute of the model")


def test_names_an_unnamed_variable_by_its_owner() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    factor = g.variable("Variable", named=False, owner="Scale", attribute="factor", tracked=False)

    assert one(g.finish(loss=g.op(OpKind.SMOOTH, (kernel, factor)), sources=[kernel])).variables == ("Scale.factor",)


def test_fires_when_a_layer_is_called_inside_a_model_that_does_not_hold_it() -> None:
    g = GraphBuilder()
    kernel, hidden = g.variable("kernel"), g.variable("hidden/kernel", created=at(4))
    g.holder("model", [kernel])
    loss = g.op(OpKind.CONTRACT, (kernel, hidden), layers=("model", "lambda"))
    found = one(g.finish(loss=loss, sources=[kernel]))

    assert found.code == "WG201"
    assert found.message.startswith("the model does not track `hidden/kernel`")


def test_fires_once_for_all_variables_made_at_one_place() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    lost = [g.variable(f"lost{number}", tracked=False, created=at(4)) for number in range(3)]
    loss = g.op(OpKind.SMOOTH, (kernel, *lost))
    g.request(loss, [kernel], where=at(8))
    g.request(loss, [kernel], where=at(9))

    assert len(one(g.finish()).variables) == 3


def test_silent_when_the_gradient_is_asked_for() -> None:
    g = GraphBuilder()
    kernel, factor = g.variable("kernel"), g.variable("factor", tracked=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (kernel, factor)))) == []


def test_silent_when_another_request_asks_for_it() -> None:
    g = GraphBuilder()
    kernel, factor = g.variable("kernel"), g.variable("factor", tracked=False)
    loss = g.op(OpKind.SMOOTH, (kernel, factor))
    g.request(loss, [kernel], where=at(5))
    g.request(loss, [factor], where=at(6))

    assert codes(g.finish()) == []


def test_silent_when_user_code_writes_it() -> None:
    g = GraphBuilder()
    kernel, average = g.variable("kernel"), g.variable("average", tracked=False, writes=3)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (kernel, average)), sources=[kernel])) == []


def test_silent_when_a_layer_writes_it_itself() -> None:
    g = GraphBuilder()
    kernel, state = g.variable("kernel"), g.variable("state", tracked=False, owner="LSTM", attribute="states")
    whole = g.finish(loss=g.op(OpKind.SMOOTH, (kernel, state)), sources=[kernel])
    written = Write(variable=state.id, kind=WriterKind.LAYER, writer="lstm", method="assign", where=None, count=3)

    assert codes(replace(whole, ledger=Ledger({state.id: "state"}, (written,)))) == []


def test_silent_when_the_variable_is_not_trainable() -> None:
    g = GraphBuilder()
    kernel, count = g.variable("kernel"), g.variable("count", trainable=False, tracked=False)

    assert codes(g.finish(loss=g.op(OpKind.SMOOTH, (kernel, count)), sources=[kernel])) == []


def test_silent_when_it_is_behind_a_stop() -> None:
    g = GraphBuilder()
    kernel, target = g.variable("kernel"), g.variable("target", tracked=False)
    loss = g.op(OpKind.SMOOTH, (kernel, g.op(OpKind.STOP, (target,))))

    assert codes(g.finish(loss=loss, sources=[kernel])) == []


def test_silent_when_another_model_tracks_it() -> None:
    g = GraphBuilder()
    generator, critic = g.variable("generator"), g.variable("critic")
    g.holder("generator", [generator])
    g.holder("critic", [critic])
    fake = g.op(OpKind.CONTRACT, (generator,), layers=("generator",))
    loss = g.op(OpKind.CONTRACT, (fake, critic), layers=("critic",))

    assert codes(g.finish(loss=loss, sources=[generator])) == []


def module(*, asked: bool, empty: bool = True, forgets: bool = True) -> Recording:
    """A loss of two variables, both held by a module whose list lacks the second."""
    g = GraphBuilder()
    own, held = g.variable("own"), g.variable("held")
    listed = () if empty else (own.id,)
    read = ListRead(owner="Net", attribute="trainable_variables", where=at(7), held=listed, later=listed)
    g.event(replace(read, unlisted=(held.id,) if forgets else (), made=(at(3),) if forgets else ()))
    return g.finish(loss=g.op(OpKind.SMOOTH, (own, held)), sources=[own, held] if asked else [own], where=at(7))


def test_fires_where_a_module_s_list_lacks_what_it_holds() -> None:
    found = one(module(asked=False))

    assert found.code == "WG201"
    assert found.variables == ("held",)
    assert found.primary is not None
    assert found.primary.span == at(7)
    assert [label.span for label in found.related] == [at(3)]


def test_fires_as_likely_where_the_module_s_list_has_others() -> None:
    assert not one(module(asked=False, empty=False)).certain


def test_silent_where_what_the_module_s_list_lacks_is_asked_for_all_the_same() -> None:
    assert codes(module(asked=True)) == []


def test_silent_where_the_module_holds_no_more_than_its_list_says() -> None:
    assert codes(module(asked=False, empty=False, forgets=False)) == []


def test_fires_when_a_training_step_knows_no_variable_to_ask_for() -> None:
    g = GraphBuilder()
    slope = g.variable("Variable", named=False, owner="Line", attribute="slope", tracked=False, created=at(4))
    g.request(g.op(OpKind.SMOOTH, (slope,), layers=("line",)), [], where=at(8), model="line", unasked=True)

    assert one(g.finish()).variables == ("Line.slope",)


def test_silent_when_a_training_step_has_no_variable_at_all() -> None:
    g = GraphBuilder()
    g.request(g.op(OpKind.SMOOTH, (g.constant(),)), [], where=at(8), model="rescale", unasked=True)

    assert codes(g.finish()) == []


def test_silent_when_data_in_a_variable_is_fed_in() -> None:
    g = GraphBuilder()
    kernel, points = g.variable("kernel"), g.variable("points", tracked=False, from_data=True)
    loss = g.op(OpKind.CONTRACT, (g.op(OpKind.MOVE, (points,)), kernel))

    assert codes(g.finish(loss=loss, sources=[kernel])) == []


def test_silent_when_labels_in_a_variable_are_compared_with_what_is_predicted() -> None:
    g = GraphBuilder()
    kernel, labels = g.variable("kernel"), g.variable("labels", tracked=False, from_data=True)
    predicted = g.op(OpKind.CONTRACT, (g.constant(shape=(4, 2)), kernel), layers=("model",))

    assert codes(g.finish(loss=g.op(OpKind.ELEMENTWISE, (predicted, labels)), sources=[kernel])) == []


def test_fires_when_a_weight_that_was_made_from_an_array_meets_the_data() -> None:
    g = GraphBuilder()
    kernel, head = g.variable("kernel"), g.variable("head", tracked=False, from_data=True)
    hidden = g.op(OpKind.CONTRACT, (g.constant(shape=(4, 2)), kernel), layers=("model", "dense"))
    loss = g.op(OpKind.CONTRACT, (hidden, head), layers=("model",))

    assert one(g.finish(loss=loss, sources=[kernel])).variables == ("head",)


def test_fires_when_a_learned_input_was_made_by_an_initializer() -> None:
    g = GraphBuilder()
    kernel, prompt = g.variable("kernel"), g.variable("prompt", tracked=False)

    assert one(g.finish(loss=g.op(OpKind.CONTRACT, (prompt, kernel)), sources=[kernel])).variables == ("prompt",)


def test_what_goes_in_with_a_row_for_each_target_may_be_data_and_is_a_note() -> None:
    g = GraphBuilder()
    kernel, rows = g.variable("kernel"), g.variable("rows", tracked=False, shape=(32, 4))
    with g.outside():
        targets = g.constant(shape=(32, 1))
    error = g.op(OpKind.ELEMENTWISE, (g.op(OpKind.CONTRACT, (rows, kernel)), targets))
    recording = g.finish(loss=error, sources=[kernel])

    assert codes(recording) == []
    assert notes(recording) == ["WG201"]


@pytest.mark.parametrize(("trained", "told"), [(True, []), (False, ["WG201"])])
def test_a_look_at_its_gradient_is_no_training(trained: bool, told: list[str]) -> None:
    """A request for it alone; where nothing moves by an optimizer at all, or it does, somebody trains it by hand."""
    g = GraphBuilder()
    kernel, factor = g.variable("kernel"), g.variable("factor", tracked=False, foreign=True)
    loss = g.op(OpKind.SMOOTH, (kernel, factor))
    g.request(loss, [kernel], where=at(5))
    g.update([(kernel, kernel)])
    if trained:
        g.update([(factor, factor)])

    assert codes(g.finish(loss=loss, sources=[factor], where=at(9))) == told
