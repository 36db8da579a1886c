"""Where data got their names, and whether two arrays are put into another order apart from one another."""

from __future__ import annotations

import pytest

from source.conftest import Spot
from whygrad.source import SourceSpan
from whygrad.source.arguments import argument_span
from whygrad.source.module import located
from whygrad.source.order import shuffled_apart, zipped
from whygrad.source.origin import apart, compared_data, hops, is_made_of, numbers_in, zipped_around


def names(span: SourceSpan | None, *path: int) -> list[tuple[str, int]]:
    return [(hop.name, hop.made.line) for hop in hops(span, path)]


def test_a_name_is_followed_through_slices_scalers_and_sums(spot: Spot) -> None:
    program = "raw = load()\nx = scaler.fit_transform(raw)\nx = (x - 1) / 2\nmodel.fit(x[:100], y)\n"

    assert names(spot(program, "x[:100]")) == [("x", 3), ("x", 2), ("raw", 1)]


def test_a_data_set_is_followed_into_the_part_that_is_meant(spot: Spot) -> None:
    program = "a, b = load()\ndata = Dataset.from_tensor_slices((a, b)).shuffle(9).batch(2)\nmodel.fit(data)\n"
    data = argument_span(spot(program, "model.fit(data)"), "x", 0)

    assert names(data, 0) == [("data", 2), ("a", 1)]
    assert names(data, 1) == [("data", 2), ("b", 1)]


LOOP = """\
x = load()
y = labels()
data = Dataset.zip((Dataset.from_tensor_slices(x), Dataset.from_tensor_slices(y)))

def step(images, truth):
    out = model(images, training=True)
    return loss_of(truth, out)

for turn, (a, b) in enumerate(data):
    step(a, b)
"""


def test_a_loop_and_the_function_it_calls_are_gone_through(spot: Spot) -> None:
    inputs, targets = compared_data(spot(LOOP, "loss_of(truth, out)"))

    assert names(inputs) == [("data", 3), ("x", 1)]
    assert names(targets) == [("data", 3), ("y", 2)]
    assert [hop.name for trail in apart(hops(inputs), hops(targets)) for hop in trail] == ["x", "y"]


def split(spot: Spot, *lines: str) -> SourceSpan | None:
    program = "\n".join([*lines, "model.fit(x, y)\n"])
    call = spot(program, "model.fit(x, y)")
    return shuffled_apart(hops(argument_span(call, "x", 0)), hops(argument_span(call, "y", 1)))


@pytest.mark.parametrize(
    "lines",
    [
        ("x = load()", "y = labels()", "rng.shuffle(x)"),
        ("x = load()", "y = labels(x)", "np.random.shuffle(y)"),
        ("x = load()", "y = labels(x)", "x = rng.permutation(x)"),
        ("x = load()", "y = labels()", "np.random.shuffle(x)", "np.random.shuffle(y)"),
    ],
)
def test_rows_are_apart_where_one_is_shuffled_without_the_other(spot: Spot, lines: tuple[str, ...]) -> None:
    assert split(spot, *lines) is not None


@pytest.mark.parametrize(
    "lines",
    [
        ("x = load()", "y = labels()"),
        ("x = load()", "rng.shuffle(x)", "y = labels(x)"),
        ("data = load()", "rng.shuffle(data)", "x = data[:, 1:]", "y = data[:, 0]"),
        ("x = load()", "y = labels()", "order = rng.permutation(9)", "x, y = x[order], y[order]"),
        ("x = load()", "y = labels()", "x, y = shuffle(x, y)"),
        ("x = load()", "y = labels()", "np.random.shuffle(x)", "np.random.seed(1)", "np.random.shuffle(y)"),
        ("x = load()", "rng.shuffle(order)", "y = labels()"),
    ],
)
def test_rows_stay_together_where_both_follow_one_order(spot: Spot, lines: tuple[str, ...]) -> None:
    assert split(spot, *lines) is None


def test_targets_that_read_the_inputs_are_made_of_them(spot: Spot) -> None:
    toy = spot("x = load()\ny = x[:, :1]\nmodel.fit(x, y)\n", "model.fit(x, y)")
    table = spot("t = load()\nx = t[:, :8]\ny = t[:, 7:]\nmodel.fit(x, y)\n", "model.fit(x, y)")

    for call, expected in ((toy, True), (table, False)):
        inputs, targets = apart(hops(argument_span(call, "x", 0)), hops(argument_span(call, "y", 1)))
        assert is_made_of(targets, inputs) is expected


def test_nothing_is_said_of_code_that_is_gone() -> None:
    gone = SourceSpan("gone.py", 1, 0, 1, 4)

    assert located(gone) is None
    assert hops(gone) == []
    assert shuffled_apart([], []) is None


def test_numbers_are_those_written_there_or_behind_a_name(spot: Spot) -> None:
    program = "LOW = -1e9\n\ndef f(x, keep, size):\n    return x + (1 - keep) * LOW / size + g(-2)\n"

    assert numbers_in(spot(program, "x + (1 - keep) * LOW / size + g(-2)")) == {
        "1": 1.0,
        "LOW": -1e9,
        "-2": -2.0,
        "2": 2.0,
    }


def test_lists_that_a_loop_goes_through_side_by_side_are_told_with_where_they_were_made(spot: Spot) -> None:
    paired = "mine = net.weights\nfor a, b in zip(other.weights, mine):\n    a.assign(b)\n"
    alone = "mine = net.weights\nfor a in mine:\n    a.assign(b)\n"

    assert [[span.line for span in spans] for spans in zipped_around(spot(paired, "a.assign(b)"))] == [[2], [2, 1]]
    assert zipped_around(spot(alone, "a.assign(b)")) == []


def test_data_are_followed_into_the_function_that_makes_them_and_out_again_by_what_it_was_called_with(
    spot: Spot,
) -> None:
    program = """
class Archive:
    def stream(self, table):
        rows = Dataset.from_tensor_slices(table)
        return rows.shuffle(9)

    def pairs(self, size):
        both = Dataset.zip((self.stream(designs), self.stream(answers)))
        return both.batch(size).prefetch(2)

designs, answers = load()
archive = Archive(3)
model.fit(archive.pairs(4))
"""
    data = argument_span(spot(program, "model.fit(archive.pairs(4))"), "x", 0)

    assert names(data, 0) == [("both", 8), ("rows", 4), ("designs", 11)]
    assert names(data, 1) == [("both", 8), ("rows", 4), ("answers", 11)]
    assert zipped(hops(data)) == hops(data)[0].made


def test_a_call_is_not_entered_where_the_function_is_another_one_or_returns_in_several_places(spot: Spot) -> None:
    program = """
class Other:
    def batch(self, n):
        hidden = made()
        return hidden

def either(x):
    if x:
        return x
    return None

y = load()
ds = y.batch(3)
fit(ds, either(y))
"""
    call = spot(program, "fit(ds, either(y))")

    assert names(argument_span(call, "x", 0)) == [("ds", 13), ("y", 12)]
    assert names(argument_span(call, "y", 1)) == [("y", 12)]


def test_a_function_that_calls_itself_ends(spot: Spot) -> None:
    program = "def again(x):\n    return again(x)\n\ny = load()\nfit(again(y))\n"

    assert names(argument_span(spot(program, "fit(again(y))"), "x", 0)) == [("y", 4)]
