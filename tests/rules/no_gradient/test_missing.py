"""What the rules about missing gradients share: names, counts, the user's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at
from whygrad.graph import OpKind
from whygrad.rules.no_gradient.missing import missing_of
from whygrad.rules.wording import (
    UNNAMED,
    listing,
    names_of,
    source_expression,
    steps_of,
    target_expression,
    text_of,
    variable_name,
)
from whygrad.source import SourceSpan


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "the sources"),
        (("a",), "`a`"),
        (("a", "b"), "`a` and `b`"),
        (("a", "b", "c"), "`a`, `b` and 1 more"),
        (("a/x", "a/y"), "`a/x` and `a/y`"),
        (("a/x", "a/y", "a/z"), "3 variables of `a`"),
        (("a/x", "a/y", "b/z"), "`a/x`, `a/y` and 1 more"),
        ((UNNAMED,), "the source tensor"),
    ],
)
def test_listing_is_short_and_loses_nothing_of_one_or_two(names: tuple[str, ...], said: str) -> None:
    assert listing(names) == said


def test_variable_without_a_name_of_its_own_is_named_by_its_owner() -> None:
    g = GraphBuilder()

    assert variable_name(g.variable("kernel", owner="Dense", attribute="kernel")) == "kernel"
    assert variable_name(g.variable("Variable", named=False, owner="Scale", attribute="factor")) == "Scale.factor"
    assert variable_name(g.variable("Variable", named=False)) == "Variable"


@pytest.mark.parametrize(
    ("call", "target", "source"),
    [
        ("tape.gradient(loss, w)", "loss", "w"),
        ("tape.gradient(target=loss, sources=w)", "loss", "w"),
        ("tape.gradient(f(x)[0], model.trainable_variables)", "f(x)[0]", "model.trainable_variables"),
        ("tape.jacobian(y, [x])", "y", "[x]"),
        ("step(batch, w)", None, None),  # what asked is inside: the arguments are not those of the request
        ("tape.gradient(loss", None, None),  # cut off
    ],
)
def test_user_s_own_words_are_taken_from_the_call(
    call: str, target: str | None, source: str | None, tmp_path: Path
) -> None:
    script = Script(tmp_path, f"result = {call}")
    g = GraphBuilder()
    request = g.request(g.op(OpKind.SMOOTH, (g.variable("w"),)), where=script[call])

    assert (target_expression(request), source_expression(request)) == (target, source)


def test_one_of_a_list_is_named_by_its_own_element(tmp_path: Path) -> None:
    script = Script(tmp_path, "tape.gradient(loss, [x, f(y)])")
    g = GraphBuilder()
    x, y = g.constant(), g.constant()
    request = g.request(g.op(OpKind.SMOOTH, (x, y)), [x, y], where=script["tape.gradient(loss, [x, f(y)])"])
    recording = g.finish()

    assert names_of(recording, request, request.sources) == ("x", "f(y)")


@pytest.mark.parametrize("count", [2, 3])
def test_a_list_that_is_flattened_is_named_as_a_whole(count: int, tmp_path: Path) -> None:
    script = Script(tmp_path, "tape.gradient(loss, [x, *rest])")
    g = GraphBuilder()
    inputs = [g.constant() for _ in range(count)]
    request = g.request(g.op(OpKind.SMOOTH, inputs), inputs, where=script["tape.gradient(loss, [x, *rest])"])

    assert names_of(g.finish(), request, request.sources) == ("[x, *rest]",)


def test_steps_count_every_request_of_the_same_place() -> None:
    g = GraphBuilder()
    loss = g.op(OpKind.SMOOTH, (g.variable("w"),))
    first = g.request(loss, where=at(5), seen=3)
    g.request(loss, where=at(5), seen=4)
    g.request(loss, where=at(6), seen=9)
    steps = steps_of(g.finish(), [first, first])

    assert (steps.seen, steps.of) == (3, 7)


def test_text_is_shortened_and_has_a_word_for_what_cannot_be_read(tmp_path: Path) -> None:
    script = Script(tmp_path, f"x = {'a' * 60}\ny = {'b' * 61}")

    assert text_of(script["a" * 60]) == f"`{'a' * 60}`"
    assert text_of(script["b" * 61]) == f"`{'b' * 57}...`"
    assert text_of(SourceSpan("gone.py", 3)) == "this"
    assert text_of(None) == "this"


def test_answer_is_found_once_for_all_rules() -> None:
    g = GraphBuilder()
    recording = g.finish(loss=g.op(OpKind.STOP, (g.variable("w"),)))

    assert missing_of(recording) is missing_of(recording)
    assert len(missing_of(recording).cuts) == 1
