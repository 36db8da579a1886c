"""Tables on the terminal: aligned and coloured there, plain columns in a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.report import terminal_width, wants_color, write_report
from whygrad.report.cells import visible

BARS = "▁▂▃▄▅▆▇█"


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: Iterable[str] = ()) -> None:
    """Write a table to stdout; the columns named in `right` are numbers."""
    color = wants_color(sys.stdout)
    numbers = set(right)
    table = Table(box=box.SIMPLE_HEAD if color else None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(_harmless, row))
    print_rich(table)


def print_rich(thing: object) -> None:
    """Anything that rich can show, as this stdout can show it."""
    color = wants_color(sys.stdout)
    console = Console(
        width=max(40, terminal_width(sys.stdout)), force_terminal=color, no_color=not color, highlight=False
    )
    if not color:  # a pipe has no edge
        console.width = 10_000
    with console.capture() as capture:
        console.print(_harmless(thing) if isinstance(thing, str | Text) else thing)
    text = "\n".join(line.rstrip() for line in capture.get().splitlines())
    write_report(sys.stdout, text)


def _harmless(text: str | Text) -> Text:
    """Names may come from somebody else's file: nothing in them is markup, or for the terminal to obey."""
    shown = Text(text) if isinstance(text, str) else text.copy()
    shown.plain = visible(shown.plain)
    return shown


def number(value: float | None, digits: int = 3) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{digits}g}"


def share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.0%}"


def sparkline(values: Sequence[float]) -> str:
    """The course of positive numbers, on a logarithmic scale."""
    logs = [math.log10(value) if value > 0 else -math.inf for value in values if math.isfinite(value)]
    finite = [value for value in logs if math.isfinite(value)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    middle = 0 if scale else (len(BARS) - 1) // 2
    return "".join(" " if math.isinf(v) else BARS[middle + round((v - low) * scale)] for v in logs)


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
