"""Which statements feed an expression, and where a value on its way there leaves the framework."""

from __future__ import annotations

from pathlib import Path

import pytest

from source.conftest import Spot
from whygrad.source import SourceSpan, slicing, source_text
from whygrad.source.slicing import copies_weights, exits, feeding_lines, taken_by


def lines_feeding(span: SourceSpan) -> set[int]:
    return {line for _, line in feeding_lines(span)}


def test_only_the_statements_whose_values_enter_are_kept(spot: Spot) -> None:
    program = "a = f()\nb = g()\nc = a + 1\nd = c * 2\nprint(d)\n"

    assert lines_feeding(spot(program, "c * 2")) == {1, 3, 4}


def test_a_name_is_followed_to_its_last_assignment_before(spot: Spot) -> None:
    program = "a = old()\na = new()\nb = use(a)\n"

    lines = lines_feeding(spot(program, "use(a)"))

    assert {2, 3} <= lines


def test_a_function_is_followed_into_its_body(spot: Spot) -> None:
    program = "def f(t):\n    s = t.numpy()\n    return s + 1\n\nx = make()\ny = f(x)\nz = wrap(y)\n"

    assert {2, 3, 5, 6, 7} <= lines_feeding(spot(program, "wrap(y)"))


def test_a_sum_that_goes_on_is_fed_by_what_it_was_before(spot: Spot) -> None:
    program = "loss = f()\nother = g()\nloss += other\n"

    assert lines_feeding(spot(program, "loss += other")) == {1, 2, 3}


def test_what_comes_after_does_not_feed(spot: Spot) -> None:
    program = "a = f()\nb = use(a)\nc = a.numpy()\n"

    assert 3 not in lines_feeding(spot(program, "use(a)"))


@pytest.mark.parametrize(
    ("program", "how", "shown"),
    [
        ("import numpy as np\nx = f()\ny = np.mean(x)\nz = use(y)\n", "np.mean()", "np.mean(x)"),
        ("x = f()\ny = x.numpy()\nz = use(y)\n", ".numpy()", "x.numpy()"),
        ("x = f()\ny = float(x)\nz = use(y)\n", "float()", "float(x)"),
        ("from numpy import exp\nx = f()\ny = exp(x)\nz = use(y)\n", "exp()", "exp(x)"),
        ("x = f()\nz = use(x.tolist())\n", ".tolist()", "x.tolist()"),
    ],
)
def test_calls_through_which_values_leave_are_found(spot: Spot, program: str, how: str, shown: str) -> None:
    found = exits(spot(program, "use("))

    assert [(each.how, source_text(each.span)) for each in found] == [(how, shown)]


def test_a_call_that_does_not_feed_the_expression_is_no_exit(spot: Spot) -> None:
    program = "x = f()\nprint(x.numpy())\nz = use(x)\n"

    assert exits(spot(program, "use(x)")) == []


def test_a_call_around_the_expression_or_around_the_call_that_gives_a_parameter_is_no_exit(spot: Spot) -> None:
    program = "def step(x):\n    return use(x)\nlosses = []\nlosses.append(float(step(y)))\n"

    assert exits(spot(program, "use(x)")) == []
    assert exits(spot(program, "step(y)")) == []


def test_a_call_around_the_expression_is_an_exit_where_its_result_comes_back(spot: Spot) -> None:
    program = "def step(x):\n    return use(x)\ny = 1.0\nwhile True:\n    y = float(step(y))\n"

    assert [each.how for each in exits(spot(program, "use(x)"))] == ["float()"]


def test_a_file_that_is_gone_or_does_not_parse_feeds_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")

    assert feeding_lines(SourceSpan(str(tmp_path / "gone.py"), 1)) == frozenset()
    assert exits(SourceSpan(str(broken), 1)) == []


def test_what_a_parameter_is_given_is_not_what_the_function_returns(spot: Spot) -> None:
    """A value that the same function only hands out for a log does not feed its argument."""
    program = "def f(z):\n    seen = [z.numpy()]\n    total = z * 2\n    return total, seen\n\nloss, log = f(data)\n"

    assert 2 not in lines_feeding(spot(program, "z * 2"))


@pytest.mark.parametrize(
    ("program", "copied"),
    [("target.set_weights(net.get_weights())\n", True), ("w = net.get_weights()\n", False)],
)
def test_weights_that_go_into_another_network_are_a_copy(spot: Spot, program: str, copied: bool) -> None:
    assert copies_weights(spot(program, "net.get_weights()")) == copied


def test_a_place_that_is_asked_for_again_is_not_sliced_again(spot: Spot, monkeypatch: pytest.MonkeyPatch) -> None:
    place = spot("def f(a):\n    b = a + 1\n    return use(b)\n", "use(b)")
    first = feeding_lines(place)
    monkeypatch.setattr(slicing._Slice, "run", None)

    assert feeding_lines(place) == first


def test_what_a_call_takes_is_followed_through_names_and_parameters(spot: Spot) -> None:
    program = "import numpy as np\ndef clipped(x):\n    return np.clip(x, 0, 1)\n\ny = net(z)\nw = other(z)\n"
    program += "use(clipped(y), w)\n"

    taken = [source_text(span) for span in taken_by(spot(program, "np.clip(x, 0, 1)"))]

    assert "y = net(z)" in taken
    assert not any("other" in (text or "") for text in taken)


@pytest.mark.parametrize("given", ["y.shape[1]", "len(y)", "float(y)", "np.abs(y)"])
def test_a_call_that_takes_a_size_or_what_left_before_does_not_take_the_value(spot: Spot, given: str) -> None:
    program = f"import numpy as np\ny = net(z)\nuse(np.log({given}))\n"

    assert "y = net(z)" not in [source_text(span) for span in taken_by(spot(program, f"np.log({given})"))]
