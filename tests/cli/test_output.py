"""Where a report goes, with hand-built reports."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from whygrad.cli.output import LivePrinter, Output, claim, deliver
from whygrad.diagnostics import Diagnostic, Label, Severity
from whygrad.errors import UsageError
from whygrad.report import Report
from whygrad.source import SourceSpan


def diagnostic(line: int, severity: Severity = Severity.ERROR, message: str = "no gradient reaches `w`") -> Diagnostic:
    where = Label(SourceSpan("gone.py", line), "here")
    return Diagnostic(code="WG101", rule="some-rule", severity=severity, message=message, primary=where)


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> tuple[io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.__stdout__", out)
    monkeypatch.setattr("sys.__stderr__", err)
    return out, err


def test_text_goes_to_stderr_only(streams: tuple[io.StringIO, io.StringIO]) -> None:
    deliver(Report(diagnostics=(diagnostic(1),)), Output())

    out, err = streams
    assert out.getvalue() == ""
    assert err.getvalue().startswith("error[WG101]: no gradient reaches `w`\n")


@pytest.mark.parametrize("format", ["json", "sarif"])
def test_forms_for_programs_go_to_stdout_only(format: str, streams: tuple[io.StringIO, io.StringIO]) -> None:
    deliver(Report(diagnostics=(diagnostic(1),)), Output(format=format))

    out, err = streams
    assert json.loads(out.getvalue())
    assert err.getvalue() == ""


def test_file_gets_the_report_and_the_terminal_nothing(
    tmp_path: Path, streams: tuple[io.StringIO, io.StringIO]
) -> None:
    file = tmp_path / "report.txt"

    deliver(Report(diagnostics=(diagnostic(1, message="no gradient reaches `ŵ`"),)), Output(file=claim(str(file))))

    assert "`ŵ`" in file.read_text(encoding="utf-8")
    assert [stream.getvalue() for stream in streams] == ["", ""]


@pytest.mark.parametrize(
    ("found", "is_said"),
    [((), False), ((Severity.NOTE,), False), ((Severity.NOTE, Severity.WARNING), True), ((Severity.ERROR,), True)],
)
def test_quiet_speaks_only_of_errors_and_warnings(
    found: tuple[Severity, ...], is_said: bool, streams: tuple[io.StringIO, io.StringIO]
) -> None:
    report = Report(diagnostics=tuple(diagnostic(line, severity) for line, severity in enumerate(found, 1)))

    deliver(report, Output(quiet=True))

    assert bool(streams[1].getvalue()) == is_said


def test_what_was_shown_live_is_not_repeated_but_counted(streams: tuple[io.StringIO, io.StringIO]) -> None:
    _, err = streams
    live = LivePrinter()

    live(diagnostic(1, message="no gradient reaches `first`"))
    live(diagnostic(1, message="no gradient reaches `first`, in 2 of 2 steps"))
    report = Report(
        diagnostics=(
            diagnostic(1, message="no gradient reaches `first`, in 9 of 9 steps"),
            diagnostic(2, message="no gradient reaches `second`"),
        )
    )
    deliver(report, Output(), live)

    assert [line for line in err.getvalue().splitlines() if "reaches" in line] == [
        "error[WG101]: no gradient reaches `first`",
        "error[WG101]: no gradient reaches `second`",
    ]
    assert err.getvalue().endswith("\n\nwhygrad: 2 errors\n")


def test_only_the_summary_is_left_where_all_was_shown_live(streams: tuple[io.StringIO, io.StringIO]) -> None:
    _, err = streams
    live = LivePrinter()
    live(diagnostic(1))
    err.truncate(0)
    err.seek(0)

    deliver(Report(diagnostics=(diagnostic(1),)), Output(), live)

    assert err.getvalue() == "whygrad: 1 error\n"


def test_closed_terminal_is_no_trouble_for_the_script(streams: tuple[io.StringIO, io.StringIO]) -> None:
    streams[1].close()

    LivePrinter()(diagnostic(1))


def test_claimed_file_is_absolute_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.txt").write_text("of yesterday")

    assert claim("report.txt") == str(tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text() == ""


def test_device_can_be_claimed(tmp_path: Path) -> None:
    assert claim(os.devnull) == os.devnull


def test_folder_cannot_be_claimed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        claim(str(tmp_path))
