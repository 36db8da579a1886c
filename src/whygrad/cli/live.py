"""Diagnostics on the terminal while the script still runs."""

from __future__ import annotations

import contextlib
import os
import sys

from whygrad.diagnostics import Diagnostic


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
