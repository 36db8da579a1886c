"""A whole report as text."""

from __future__ import annotations

import re

import pytest

from report.samples import TRAIN, diagnostic, lines, span, write
from whygrad.diagnostics import Severity
from whygrad.errors import UsageError
from whygrad.report import FORMATS, LossReach, Report, TermReach, render
from whygrad.report.reach import group_names
from whygrad.report.text import render_text
from whygrad.source import SourceSpan


def test_diagnostics_are_followed_by_a_summary() -> None:
    file = write("train.py", TRAIN)
    cut = diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)"))
    report = Report(diagnostics=(cut, diagnostic(severity=Severity.NOTE, code="WG102", message="worth knowing")))

    assert render(report, "text") == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:6:14
          |
        6 |     bucket = tf.cast(w * 3.0, tf.int32)
          |              ^^^^^^^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101

        note[WG102]: worth knowing
          = note: variable: `w`
          = more: whygrad explain WG102

        whygrad: 1 error, 1 note
    """)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({}, "whygrad: no problem found"),
        ({"requests": 2, "updates": 0}, "whygrad: no problem found in 2 gradient computations"),
        (
            {"requests": 1, "updates": 200, "steps": 200, "variables": 14, "script": "train.py"},
            "whygrad: no problem found in 1 gradient computation, 200 updates, 200 steps, 14 variables",
        ),
        (
            {"requests": 9, "variables": 8, "untrained": ["a", "b", "c", "d"]},
            "whygrad: no problem found in 9 gradient computations, 8 variables; "
            "4 are used but not trained: `a`, `b`, `c` and 1 more",
        ),
        (
            {"requests": 9, "variables": 2, "untrained": ["a"]},
            "whygrad: no problem found in 9 gradient computations, 2 variables; 1 is used but not trained: `a`",
        ),
        ({"files": 3}, "whygrad: no problem found in 3 files"),
        ({"requests": 0}, "whygrad: no gradient computation was seen: nothing to check"),
    ],
)
def test_a_clean_report_says_what_was_looked_at(run: dict[str, object], said: str) -> None:
    assert render(Report(run=run), "text") == said


@pytest.mark.parametrize("severity", [None, Severity.NOTE])
def test_a_program_that_failed_is_never_free_of_problems(severity: Severity | None) -> None:
    where = {"file": "train.py", "line": 3}
    found = () if severity is None else (diagnostic(severity=severity),)
    run = {"requests": 2, "error": {"type": "ValueError", "message": "no\nsuch", "location": where}}
    *_, failed, _, said = render(Report(diagnostics=found, run=run), "text").splitlines()

    assert failed == "failed with ValueError at train.py:3: no"
    assert said.endswith("the program failed, and whygrad has nothing to add")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("in user code:\n    train.py:3\n    ranks differ", "ranks differ"),
        ("No symbolic tensor here. You wrote something like:\n```\ntf_fn(x)\n```", "No symbolic tensor here."),
        ("\n~~~\nshapes differ\n", "shapes differ"),
        ("Graph execution error:\n\n7 is not in [0, 2)\n\t [[{{node Gather}}]] [Op:step_4]", "7 is not in [0, 2)"),
    ],
)
def test_the_line_of_an_exception_that_says_most_is_shown(message: str, words: str) -> None:
    run = {"error": {"type": "ValueError", "message": message}}

    assert f"failed with ValueError: {words}" in render(Report(run=run), "text")


def test_where_whygrad_itself_failed_nothing_is_said_of_the_program() -> None:
    assert render(Report(run={"watched": False}), "text").startswith("whygrad: nothing was found, but")


def test_the_summary_counts_the_worst_first() -> None:
    severities = (Severity.NOTE, Severity.ERROR, Severity.WARNING, Severity.NOTE, Severity.NOTE, Severity.WARNING)
    report = Report(diagnostics=tuple(diagnostic(severity=severity) for severity in severities))

    assert render(report, "text").splitlines()[-1] == "whygrad: 1 error, 2 warnings, 3 notes"
    assert repr(report) == "<whygrad.Report: 1 error, 2 warnings, 3 notes>"


def test_what_was_shown_already_is_counted_but_not_shown_again() -> None:
    shown, fresh = diagnostic(message="shown"), diagnostic(message="fresh")
    report = Report(diagnostics=(shown, fresh))

    assert render_text(report, omit=[shown]) == lines("""
        error[WG101]: fresh
          = note: variable: `w`
          = more: whygrad explain WG101

        whygrad: 2 errors
    """)


def test_the_terms_of_a_loss_are_rows_where_one_of_them_misses_a_variable() -> None:
    fit = TermReach(term="`error`", where=None, reached=("decoder/kernel",), missing=("encoder/kernel",))
    prior = TermReach(term="`0.1 * kl`", where=None, reached=("encoder/kernel",))
    loss = LossReach(
        loss="loss", where=SourceSpan("train.py", 3), reached=("encoder/kernel", "decoder/kernel"), terms=(fit, prior)
    )

    assert render(Report(gradients=(loss,)), "text") == lines("""
        which loss reaches which variables
        loss          asked at    reaches                         does not reach
        loss          train.py:3  encoder/kernel, decoder/kernel
          + error                 decoder/kernel                  encoder/kernel
          + 0.1 * kl              encoder/kernel

        whygrad: no problem found
    """)


def test_a_loss_and_its_penalty_on_weights_need_no_table() -> None:
    fit = TermReach(term="`error`", where=None, reached=("w",))
    decay = TermReach(term="`decay`", where=None, reached=("w",), is_penalty=True)
    loss = LossReach(loss="loss", where=None, reached=("w",), terms=(fit, decay))

    assert "reaches" not in render(Report(gradients=(loss,)), "text")


def test_with_two_losses_a_table_says_which_reaches_what() -> None:
    file = write("gan.py", TRAIN)
    layers = [f"dense_{number}/kernel" for number in range(6)]
    report = Report(
        gradients=(
            LossReach(
                loss="d_loss",
                where=span(file, 12, "tape.gradient(loss, [w])"),
                reached=tuple(f"discriminator/{layer}" for layer in layers),
            ),
            LossReach(
                loss="g_loss",
                where=span(file, 11, "print"),
                reached=("temperature",),
                missing=tuple(f"generator/{layer}" for layer in layers),
            ),
        )
    )

    assert render(report, "text") == lines("""
        which loss reaches which variables
        loss    asked at     reaches              does not reach
        d_loss  gan.py:12:9  discriminator/* (6)
        g_loss  gan.py:11:1  temperature          generator/* (6)

        whygrad: no problem found
    """)


def test_names_are_folded_between_them_however_little_room_the_places_leave() -> None:
    where = SourceSpan(f"{'deep/' * 16}train.py", 3)
    losses = (LossReach(loss=name, where=where, reached=("generator/kernel", "critic/kernel")) for name in ("g", "d"))

    text = render_text(Report(gradients=tuple(losses)), width=80)

    assert "generator/kernel," in text
    assert len(text.splitlines()) < 10


def test_with_one_loss_there_is_no_table() -> None:
    once = LossReach(loss="loss", where=SourceSpan("train.py", 3), reached=("w",))
    skipping = LossReach(loss="loss", where=SourceSpan("train.py", 3), reached=(), missing=("w",))

    assert "reaches" not in render(Report(gradients=(once, skipping)), "text")


@pytest.mark.parametrize(
    ("names", "grouped"),
    [
        ((), ""),
        (("w",), "w"),
        (("w", "b"), "w, b"),
        (("encoder/kernel",), "encoder/kernel"),
        (("encoder/kernel", "encoder/bias"), "encoder/* (2)"),
        (("gan/g/a/w", "gan/g/b/w"), "gan/g/* (2)"),
        (("gan/g/w", "gan/d/w", "step"), "gan/* (2), step"),
        (("kernel", "kernel", "kernel"), "kernel (3)"),
        (("encoder", "encoder/kernel"), "* (2)"),
        (tuple("abcdefgh"), "a, b, c, d, e, f and 2 more"),
    ],
)
def test_variables_are_grouped_by_their_folder(names: tuple[str, ...], grouped: str) -> None:
    assert group_names(names) == grouped


def test_colour_adds_nothing_but_colour() -> None:
    reaches = tuple(LossReach(loss=name, where=None, reached=("w",)) for name in ("d_loss", "g_loss"))
    report = Report(diagnostics=(diagnostic(), diagnostic(severity=Severity.WARNING)), gradients=reaches)

    colored = render(report, color=True)

    plain = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", colored).split("\n")]
    assert plain == render(report).split("\n")
    assert "\x1b[1;33mwarning[WG101]" in colored


def test_print_shows_the_text() -> None:
    report = Report(diagnostics=(diagnostic(),))

    assert str(report) == render(report, "text")


@pytest.mark.parametrize("format_", FORMATS)
def test_an_empty_report_can_be_rendered_in_every_form(format_: str) -> None:
    assert "WG" not in render(Report(), format_)


def test_an_unknown_form_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="unknown output format `xml`") as caught:
        render(Report(), "xml")

    assert caught.value.help == "one of: text, json, sarif, github, html"
