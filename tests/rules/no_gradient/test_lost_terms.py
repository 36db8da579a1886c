"""A loss of several terms: one of them may have lost its way to a variable that another one trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, diagnostics, notes, one
from whygrad.diagnostics import Severity
from whygrad.graph import Action, OpKind, Recording, Tensor, Variable
from whygrad.source import SourceSpan


class Coder:
    """`decoder @ f(encoder @ x)` held against `y`, and terms to add to it."""

    def __init__(self) -> None:
        self.g = GraphBuilder()
        self.encoder, self.decoder = self.g.variable("encoder", shape=(4, 4)), self.g.variable("decoder", shape=(4, 4))
        self.x, self.y = self.g.constant(shape=(8, 4)), self.g.constant(shape=(8, 4))
        self.code = self.g.op(OpKind.CONTRACT, (self.x, self.encoder), shape=(8, 4))

    def error(self, code: Tensor | Variable, *, by: Variable | None = None) -> Tensor:
        g = self.g
        out = g.op(OpKind.CONTRACT, (code, by or self.decoder), shape=(8, 4))
        return self.mean(g.op(OpKind.ELEMENTWISE, (out, self.y), action=Action.SQUARED_DIFFERENCE, shape=(8, 4)))

    def mean(self, tensor: Tensor) -> Tensor:
        return self.g.op(OpKind.REDUCE, (tensor,), action=Action.MEAN, shape=())

    def square(self, value: Tensor | Variable) -> Tensor:
        return self.mean(self.g.op(OpKind.ELEMENTWISE, (value,), action=Action.SQUARE, shape=(8, 4)))

    def decay(self) -> Tensor:
        return self.scaled(self.plus(self.square(self.encoder), self.square(self.decoder)))

    def scaled(self, tensor: Tensor) -> Tensor:
        factor = self.g.constant(shape=())
        return self.g.op(OpKind.ELEMENTWISE, (factor, tensor), action=Action.MULTIPLY, shape=())

    def plus(self, *terms: Tensor) -> Tensor:
        return self.g.op(OpKind.ELEMENTWISE, terms, action=Action.ADD, shape=())


CUTS = {
    OpKind.STOP: "WG103",
    OpKind.ROUND: "WG101",
    OpKind.SAMPLE: "WG106",
    OpKind.FOREIGN: "WG104",
}


@pytest.mark.parametrize("kind", CUTS)
def test_a_penalty_on_the_weights_hides_no_cut(kind: OpKind) -> None:
    c = Coder()
    loss = c.plus(c.error(c.g.op(kind, (c.code,), shape=(8, 4))), c.decay())
    found = one(c.g.finish(loss=loss))

    assert (found.code, found.severity, found.variables) == (CUTS[kind], Severity.ERROR, ("encoder",))


def test_the_term_and_what_trains_the_variable_instead_are_named(tmp_path: Path) -> None:
    script = Script(tmp_path, "error = mse(decode(tf.round(z)), y)\nloss = error + 0.01 * tf.reduce_mean(z ** 2)")
    c = Coder()
    error = c.error(c.g.op(OpKind.ROUND, (c.code,), where=script["tf.round(z)"], shape=(8, 4)))
    error = c.g.op(OpKind.REDUCE, (error,), action=Action.MEAN, where=script["mse(decode(tf.round(z)), y)"], shape=())
    activity = c.g.op(
        OpKind.ELEMENTWISE,
        (c.g.constant(shape=()), c.square(c.code)),
        action=Action.MULTIPLY,
        where=script["0.01 * tf.reduce_mean(z ** 2)"],
        shape=(),
    )
    found = one(c.g.finish(loss=c.plus(error, activity)))

    assert found.message.startswith("the term `mse(decode(tf.round(z)), y)` does not train `encoder`: every path to it")
    assert "only `0.01 * tf.reduce_mean(z ** 2)` does" in found.notes
    assert found.primary is not None
    assert found.primary.span == script["tf.round(z)"]


def test_a_sign_is_found_beside_a_penalty() -> None:
    c = Coder()
    loss = c.plus(c.error(c.g.op(OpKind.SIGN, (c.code,), shape=(8, 4))), c.decay())

    assert codes(c.g.finish(loss=loss)) == ["WG301"]


def test_a_variable_that_the_data_reaches_by_a_write_is_found_beside_an_activity_penalty() -> None:
    c = Coder()
    buffer = c.g.variable("buffer", trainable=False, shape=(8, 4))
    c.g.write(buffer, c.code)
    loss = c.plus(c.error(c.g.read(buffer)), c.scaled(c.square(c.code)))

    assert codes(c.g.finish(loss=loss)) == ["WG112"]


def test_only_a_warning_where_another_term_holds_the_variable_against_data() -> None:
    c = Coder()
    head = c.g.variable("head", shape=(4, 4))
    rounded = c.error(c.g.op(OpKind.ROUND, (c.code,), shape=(8, 4)))
    found = one(c.g.finish(loss=c.plus(rounded, c.error(c.code, by=head))))

    assert (found.code, found.severity) == ("WG101", Severity.WARNING)


def test_silent_on_a_probe_of_stopped_features() -> None:
    c = Coder()
    probe = c.g.variable("probe", shape=(4, 4))
    stopped = c.error(c.g.op(OpKind.STOP, (c.code,), shape=(8, 4)), by=probe)
    recording = c.g.finish(loss=c.plus(c.error(c.code), stopped, c.decay()))

    assert (codes(recording), notes(recording)) == ([], [])


def test_silent_on_a_stopped_target() -> None:
    c = Coder()
    target = c.g.op(OpKind.STOP, (c.code,), shape=(8, 4))
    guess = c.g.op(OpKind.CONTRACT, (c.x, c.decoder), shape=(8, 4))
    distance = c.mean(c.g.op(OpKind.ELEMENTWISE, (guess, target), action=Action.SQUARED_DIFFERENCE, shape=(8, 4)))

    assert codes(c.g.finish(loss=c.plus(distance, c.square(c.code)))) == []


def test_silent_where_a_mask_stands_beside_a_way_that_carries_the_gradient() -> None:
    c = Coder()
    mask = c.g.op(OpKind.CAST, (c.g.op(OpKind.COMPARE, (c.code,), shape=(8, 4)),), dtype="float32", shape=(8, 4))
    masked = c.g.op(OpKind.ELEMENTWISE, (mask, c.code), action=Action.MULTIPLY, shape=(8, 4))

    assert codes(c.g.finish(loss=c.plus(c.error(masked), c.decay()))) == []


def test_silent_on_positions_that_pick_rows_of_a_table() -> None:
    """The way of a codebook: which row is near is no number to differentiate."""
    c = Coder()
    nearest = c.g.op(OpKind.INDEX, (c.code,), shape=(8,))
    rows = c.g.op(OpKind.MOVE, (c.decoder, nearest), shape=(8, 4))
    stopped = c.g.op(OpKind.STOP, (c.code,), shape=(8, 4))
    apart = c.mean(c.g.op(OpKind.ELEMENTWISE, (rows, stopped), action=Action.SQUARED_DIFFERENCE, shape=(8, 4)))

    assert codes(c.g.finish(loss=c.plus(apart, c.error(c.code), c.square(c.code)))) == []


def test_silent_on_a_loss_that_is_all_penalties() -> None:
    c = Coder()
    both = c.plus(c.square(c.encoder), c.square(c.g.op(OpKind.ROUND, (c.encoder,))))

    assert codes(c.g.finish(loss=both, sources=[c.encoder])) == []


def test_silent_on_a_value_that_goes_straight_through_into_a_sum() -> None:
    c = Coder()
    rounded = c.g.op(OpKind.ROUND, (c.code,), shape=(8, 4))
    apart = c.g.op(OpKind.ELEMENTWISE, (rounded, c.code), action=Action.SUBTRACT, shape=(8, 4))
    straight = c.plus(c.code, c.g.op(OpKind.STOP, (apart,), shape=(8, 4)))

    assert codes(c.g.finish(loss=c.mean(straight), sources=[c.encoder])) == []


def test_silent_on_a_draw_whose_score_is_weighed_with_what_came_of_it() -> None:
    c = Coder()
    sample = c.g.op(OpKind.SAMPLE, (c.code,), shape=(8, 4))
    cost = c.error(sample)
    score = c.mean(c.g.op(OpKind.ELEMENTWISE, (c.code, sample), action=Action.MULTIPLY, shape=(8, 4)))
    weighed = c.g.op(
        OpKind.ELEMENTWISE, (score, c.g.op(OpKind.STOP, (cost,), shape=())), action=Action.MULTIPLY, shape=()
    )

    assert codes(c.g.finish(loss=c.plus(cost, weighed))) == []


def test_fires_though_the_prior_takes_the_very_code_that_is_cut_off() -> None:
    c = Coder()
    error = c.error(c.g.op(OpKind.STOP, (c.code,), shape=(8, 4)))

    assert codes(c.g.finish(loss=c.plus(error, c.mean(c.code)))) == ["WG103"]


def test_a_term_of_weights_and_made_up_inputs_that_trains_nothing_is_no_penalty() -> None:
    c = Coder()
    grid = c.g.op(OpKind.CONSTANT, (c.g.constant(shape=()),), shape=(8, 4))
    rounded = c.g.op(OpKind.ROUND, (c.g.op(OpKind.CONTRACT, (grid, c.encoder), shape=(8, 4)),), shape=(8, 4))
    found = one(c.g.finish(loss=c.plus(c.mean(rounded), c.scaled(c.square(c.encoder))), sources=[c.encoder]))

    assert (found.code, found.severity, found.variables) == ("WG101", Severity.ERROR, ("encoder",))


def test_a_look_at_another_loss_afterwards_changes_nothing() -> None:
    """What other losses give a variable is no reason for a term of this one to have lost its way to it."""
    c = Coder()
    loss = c.plus(c.error(c.g.op(OpKind.FOREIGN, (c.code,), shape=(8, 4))), c.decay())
    c.g.request(loss, [c.encoder, c.decoder])
    c.g.update([(c.encoder, c.encoder), (c.decoder, c.decoder)])
    looked_at = c.g.finish(loss=c.square(c.encoder), sources=[c.encoder])

    assert (one(looked_at).code, one(looked_at).severity) == ("WG104", Severity.ERROR)


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("head(z)", Severity.WARNING),
        ("aside = head(z)", Severity.WARNING),
        ("aside = head(z); print(aside)", Severity.NOTE),
        ("outputs = [head(z)]", Severity.NOTE),
        ("_ = head(z)", Severity.NOTE),
    ],
)
def test_a_result_that_nothing_takes_is_a_warning_beside_a_penalty(
    tmp_path: Path, text: str, severity: Severity
) -> None:
    """In eager code another step may use what this one does not: heads that take turns."""
    script = Script(tmp_path, text)
    c = Coder()
    head = c.g.variable("head", shape=(4, 4))
    c.g.op(OpKind.CONTRACT, (c.code, head), shape=(8, 4), where=script["head(z)"])
    loss = c.plus(c.error(c.code), c.decay(), c.scaled(c.square(head)))
    [found] = [each for each in diagnostics(c.g.finish(loss=loss)) if each.code == "WG107"]

    assert (found.severity, found.variables) == (severity, ("head",))
    assert script["head(z)"] in [label.span for label in found.related]


class Fit(Coder):
    """An autoencoder that its error holds against data, trained, with one more term in its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.fit = self.error(self.code)

    def rough(self, where: SourceSpan | None = None) -> Tensor:
        """A term of a pass of its own."""
        code = self.g.op(OpKind.CONTRACT, (self.y, self.encoder), shape=(8, 4), where=where)
        out = self.g.op(OpKind.CONTRACT, (code, self.decoder), shape=(8, 4), where=where)
        return self.g.op(OpKind.REDUCE, (out,), action=Action.MEAN, shape=(), where=where)

    def finish(self, loss: Tensor, *, used: bool = True) -> Recording:
        self.g.request(loss, [self.encoder, self.decoder])
        if used:
            self.g.update([(self.encoder, self.encoder), (self.decoder, self.decoder)])
        return self.g.finish()


def test_a_term_that_the_tape_did_not_record_trains_nothing(tmp_path: Path) -> None:
    script = Script(tmp_path, "loss = fit + 0.1 * rough")
    f = Fit()
    with f.g.outside():
        rough = f.rough(where=at(3))
    weighed = f.g.op(
        OpKind.ELEMENTWISE,
        (f.g.constant(shape=()), rough),
        action=Action.MULTIPLY,
        where=script["0.1 * rough"],
        shape=(),
    )
    found = one(f.finish(f.plus(f.fit, weighed)))

    assert (found.code, found.severity, found.variables) == ("WG105", Severity.WARNING, ("encoder", "decoder"))
    assert found.message.startswith("the term `0.1 * rough` does not train `encoder` and `decoder`")


@pytest.mark.parametrize("kind", [OpKind.SAMPLE, OpKind.ROUND, OpKind.FOREIGN])
def test_a_term_that_ends_in_a_cut_trains_nothing(kind: OpKind) -> None:
    f = Fit()

    assert codes(f.finish(f.plus(f.fit, f.g.op(kind, (f.rough(),), shape=())))) == [CUTS[kind]]


def test_a_penalty_that_the_tape_did_not_record_trains_nothing() -> None:
    f = Fit()
    with f.g.outside():
        penalty = f.square(f.encoder)
    found = one(f.finish(f.plus(f.fit, f.scaled(penalty))))

    assert (found.code, found.severity, found.variables) == ("WG105", Severity.WARNING, ("encoder",))


def test_silent_on_a_term_that_is_stopped_as_a_whole() -> None:
    f = Fit()

    assert codes(f.finish(f.plus(f.fit, f.scaled(f.g.op(OpKind.STOP, (f.rough(),), shape=()))))) == []


def test_silent_on_a_term_that_is_weighed_with_zero() -> None:
    f = Fit()
    with f.g.outside():
        rough = f.rough()
    nothing = (f.g.constant(shape=()), rough)
    switched_off = f.g.op(OpKind.ELEMENTWISE, nothing, action=Action.MULTIPLY, shape=(), blank=(0,))

    assert codes(f.finish(f.plus(f.fit, switched_off))) == []


def test_silent_on_what_a_loss_was_before_that_it_is_compared_with() -> None:
    f = Fit()
    with f.g.outside():
        before = f.rough()

    assert codes(f.finish(f.g.op(OpKind.ELEMENTWISE, (f.fit, before), action=Action.SUBTRACT, shape=()))) == []


def test_silent_on_an_earlier_value_of_the_same_expression() -> None:
    f = Fit()
    with f.g.outside():
        before = f.rough(where=at(3))

    assert codes(f.finish(f.plus(f.fit, f.rough(where=at(3)), before))) == []


def test_silent_on_an_earlier_value_that_the_same_summand_compares_with_a_new_one() -> None:
    f = Fit()
    with f.g.outside():
        before = f.g.op(OpKind.CONTRACT, (f.y, f.encoder), shape=(8, 4))
    both = f.g.op(OpKind.ELEMENTWISE, (before, f.code), action=Action.ADD, shape=(8, 4))

    assert codes(f.finish(f.plus(f.fit, f.mean(both)))) == []


def test_silent_on_a_constant_that_goes_with_an_earlier_value_used_as_a_target() -> None:
    """The entropy of an old policy beside the cross-entropy with it."""
    f = Fit()
    with f.g.outside():
        old = f.g.op(OpKind.CONTRACT, (f.y, f.encoder), shape=(8, 4))
    entropy = f.mean(f.g.op(OpKind.LOG, (old,), shape=(8, 4)))
    crossed = f.mean(f.g.op(OpKind.ELEMENTWISE, (old, f.code), action=Action.MULTIPLY, shape=(8, 4)))

    assert codes(f.finish(f.plus(f.fit, crossed, entropy))) == []


def test_silent_on_a_request_that_nothing_moves_by() -> None:
    f = Fit()
    with f.g.outside():
        rough = f.rough()

    assert codes(f.finish(f.plus(f.fit, rough), used=False)) == []


def test_silent_on_a_term_that_another_player_is_trained_by() -> None:
    f = Fit()
    judge = f.g.variable("judge", shape=(4, 4))
    drawn = f.g.op(OpKind.ROUND, (f.code,), shape=(8, 4))
    total = f.plus(f.fit, f.mean(f.g.op(OpKind.CONTRACT, (drawn, judge), shape=(8, 4))))
    f.g.request(total, [judge])
    f.g.update([(judge, judge)])

    assert codes(f.finish(total)) == []


def test_silent_on_an_average_that_an_earlier_pass_wrote() -> None:
    f = Fit()
    average = f.g.variable("average", trainable=False, shape=(8, 4))
    with f.g.outside():
        f.g.write(average, f.g.op(OpKind.CONTRACT, (f.y, f.encoder), shape=(8, 4)))

    assert codes(f.finish(f.plus(f.fit, f.square(f.g.read(average))))) == []
