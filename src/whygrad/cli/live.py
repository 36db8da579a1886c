"""Diagnostics on the terminal while the script still runs."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace

from whygrad.diagnostics import Diagnostic
from whygrad.report.report import Report


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


def rest_of(report: Report, live: LivePrinter, *, color: bool, width: int) -> str:
    """The text of a report without the diagnostics that were shown already; the summary counts them all."""
    from whygrad.report import render

    rest = tuple(diagnostic for diagnostic in report.diagnostics if not live.has_shown(diagnostic))
    before, gap, _ = render(replace(report, diagnostics=rest), "text", color=color, width=width).rpartition("\n\n")
    return before + gap + render(report, "text", color=color, width=width).rpartition("\n\n")[2]


def _key(diagnostic: Diagnostic) -> tuple[object, ...]:
    """The same for one cause at every step: its count of steps and variables grows, its place does not."""
    return (diagnostic.code, diagnostic.message if diagnostic.primary is None else diagnostic.primary.span)
