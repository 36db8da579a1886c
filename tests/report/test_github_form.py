"""Workflow commands, read back as the runner reads them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.samples import HELP, TRAIN, diagnostic, span, write
from report.strategies import REPORTS
from whygrad.diagnostics import Severity
from whygrad.report import Report, render
from whygrad.report.github import escape_data, escape_property
from whygrad.source import SourceSpan

PIECES = ["%", "%0A", "%0D", "%25", "%3A", "%2C", ":", ",", "\r", "\n", "a"]
COMMAND = re.compile(r"::(?P<command>error|warning|notice) (?P<properties>.*?)::(?P<message>.*)", re.DOTALL)


def _unescape(text: str) -> str:
    for written, meant in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def _read(line: str) -> tuple[str, dict[str, str], str]:
    match = COMMAND.fullmatch(line)
    assert match is not None
    pairs = (pair.split("=", 1) for pair in match["properties"].split(","))
    return match["command"], {key: _unescape(value) for key, value in pairs}, _unescape(match["message"])


def test_an_annotation_points_at_the_expression() -> None:
    file = write("train.py", TRAIN)
    cut = diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)"), help=HELP)

    assert render(Report(diagnostics=(cut,)), "github") == (
        "::error file=train.py,line=6,endLine=6,col=14,endColumn=40,title=whygrad WG101 (non-differentiable-op)"
        "::no gradient reaches `w`: its path to the loss is cut by a cast"
        "%0Atrain.py:6:14: float32 -> int32: the gradient stops here"
        "%0Ahelp: keep this value in floating point, or move the cast out of the loss"
        "%0Amore: whygrad explain WG101"
    )


@pytest.mark.parametrize(
    ("severity", "command"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.NOTE, "notice")],
)
def test_a_note_is_a_notice(severity: Severity, command: str) -> None:
    assert _read(render(Report(diagnostics=(diagnostic(severity=severity),)), "github"))[0] == command


def test_columns_are_left_out_where_the_span_has_several_lines() -> None:
    cut = diagnostic(SourceSpan("gone/train.py", 6, 4, 8, 1))

    _, properties, _ = _read(render(Report(diagnostics=(cut,)), "github"))

    assert properties["endLine"] == "8"
    assert not {"col", "endColumn"} & set(properties)


@pytest.mark.parametrize("file", ["<ipython-input-3-0123abcd>", "/somewhere/ipykernel_1/2.py", "<string>"])
def test_what_is_not_a_file_is_not_named_as_one(file: str) -> None:
    _, properties, _ = _read(render(Report(diagnostics=(diagnostic(SourceSpan(file, 1, 2)),)), "github"))

    assert set(properties) == {"title"}


@given(text=st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_escaping_loses_nothing_and_leaves_nothing_that_means_something(text: str) -> None:
    assert _unescape(escape_data(text)) == text
    assert _unescape(escape_property(text)) == text
    assert not set("\r\n") & set(escape_data(text))
    assert not set("\r\n:,") & set(escape_property(text))


@given(report=REPORTS)
def test_every_diagnostic_is_one_line_that_can_be_read(report: Report) -> None:
    written = render(report, "github")

    assert written.count("\n") == max(len(report.diagnostics) - 1, 0)
    for line, found in zip(written.split("\n"), report.diagnostics, strict=False):
        _, properties, message = _read(line)
        assert properties["title"] == f"whygrad {found.code} ({found.rule})"
        assert message.split("\n")[0] == " ".join(found.message.splitlines())
