"""Where the report of a run goes, in which form, and what is shown while the script still runs."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.errors import UsageError
from whygrad.report import Report

if TYPE_CHECKING:
    from whygrad.report.sarif import RuleInfo

FILE_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Output:
    """`file` None: text goes to stderr, because stdout is the script's; the forms for programs go to stdout."""

    format: str = "text"
    file: str | None = None
    quiet: bool = False  # no text where there is no error and no warning
    descriptor: int | None = None  # of the standard output that was kept for the report

    @property
    def is_document(self) -> bool:
        """Whether the report is one document on standard output, which must hold nothing else."""
        return self.file is None and self.format in ("json", "sarif", "html")

    @property
    def is_live(self) -> bool:
        """Whether somebody is looking on, so that a finding is shown as soon as it is certain."""
        stream = sys.__stderr__
        return self.file is None and self.format == "text" and stream is not None and stream.isatty()


def claim(file: str) -> str:
    """The absolute path of an output file that can be written; a report of an earlier run in it is emptied.

    Absolute because the script may change the directory; emptied so that a script that is killed leaves no old report.
    """
    path = os.path.abspath(file)
    try:
        is_special = os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode)
        open(path, "a" if is_special else "w").close()
    except OSError as error:
        raise UsageError(f"cannot write the report to `{file}`: {error.strerror}") from None
    return path


def keep_stdout() -> int | None:
    """Keep standard output for the report; all that the script prints goes to standard error from now on."""
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        return None
    return kept


def deliver(report: Report, output: Output, live: LivePrinter | None = None) -> None:
    """Write the report; raises OSError or ValueError where its place was taken away since it was claimed."""
    from whygrad.report import render, terminal_width, wants_color, write_report

    if output.quiet and output.format == "text" and (report.worst or Severity.NOTE) < Severity.WARNING:
        return
    rules: Iterable[RuleInfo] = ()
    if output.format == "sarif":
        from whygrad.rules import all_rules

        rules = all_rules()
    if output.file is not None:
        with open(output.file, "w", encoding="utf-8") as file:
            file.write(render(report, output.format, width=FILE_WIDTH, rules=rules) + "\n")
        return
    flush_script_output()
    if output.descriptor is not None:
        with open(os.dup(output.descriptor), "w", encoding="utf-8") as kept:
            kept.write(render(report, output.format, rules=rules) + "\n")
        return
    stream = sys.__stderr__ if output.format == "text" else sys.__stdout__
    if stream is None:
        return
    color, width = wants_color(stream), terminal_width(stream)
    omit = [] if live is None else list(filter(live.has_shown, report.diagnostics))
    write_report(stream, render(report, output.format, color=color, width=width, omit=omit, rules=rules))


def flush_script_output() -> None:
    """What the script printed comes before what is said about it."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # broken, closed, or replaced by something odd
            pass


class LivePrinter:
    """Shows a diagnostic as soon as it is certain, and remembers that it has."""

    def __init__(self) -> None:
        self.shown: set[tuple[object, ...]] = set()
        self._process = os.getpid()

    def __call__(self, diagnostic: Diagnostic) -> None:
        from whygrad.report import render_diagnostic, terminal_width, wants_color, write_report

        stream = sys.__stderr__
        if self.has_shown(diagnostic) or os.getpid() != self._process or stream is None:
            return
        text = render_diagnostic(diagnostic, color=wants_color(stream), width=terminal_width(stream))
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone, or the script closed it
            write_report(stream, f"\n{text}\n")  # the empty line ends a progress bar that the script may be drawing
            self.shown.add(_key(diagnostic))

    def has_shown(self, diagnostic: Diagnostic) -> bool:
        return _key(diagnostic) in self.shown


def _key(diagnostic: Diagnostic) -> tuple[object, ...]:
    """The same for one cause at every step: its count of steps and variables grows, its place does not."""
    return (diagnostic.code, diagnostic.message if diagnostic.primary is None else diagnostic.primary.span)
