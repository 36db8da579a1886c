"""Tables on the terminal: aligned and coloured there, plain columns in a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whygrad.report import terminal_width, wants_color, write_report
from whygrad.report.cells import visible
from whygrad.store import Run, header_of, workers_of

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


def print_workers(run: Run) -> None:
    """A row for each worker that trained together with this one, and what was found in the runs of the others only."""
    workers = workers_of(run)
    if len(workers) > 1:
        print_rich("")
        headings = ("worker", "run", "status", "steps", "loss", "|gradient|", "seconds per step")
        print_table(headings, map(_of_worker, workers), right=headings[3:])
    for told in _not_finite(workers or [run]):
        print_rich(Text(told, "red"))
    known = {(each.code, each.message) for each in run.diagnostics()}
    for other in workers:
        for each in other.diagnostics():
            if other.id != run.id and (each.code, each.message) not in known:
                print_rich(f"{header_of(other).worker}: {each.code}: {each.message}")


def _of_worker(run: Run) -> tuple[str, ...]:
    header, tracks = header_of(run), run.tracks()
    steps = "" if header.last_step is None else str(header.last_step + 1)
    if not tracks:
        return (header.worker, run.id, header.status, steps, "", "", "")
    newest = run.everything(tracks[0].name, blocks=1)
    norms = [float(each.channels["norm"][-1]) for each in newest.variables if len(each.steps)]
    known = {name: float(values[-1]) for name, values in newest.scalars.items() if len(values)}
    loss, seconds = (number(known.get(name)) for name in ("loss", "duration"))
    total = number(math.sqrt(sum(norm * norm for norm in norms)))
    return (header.worker, run.id, header.status, steps, loss, total, seconds)


def _not_finite(runs: Sequence[Run]) -> Iterator[str]:
    """Of each run the first time that a replica of it had gradients that are not finite, in one sentence."""
    for run in runs:
        for event in run.events("not finite")[:1]:
            numbers, worker = event.data.get("replicas"), event.data.get("worker")
            if isinstance(numbers, list) and numbers:
                whose = f"replica{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
                where = f" ({worker})" if worker else ""
                yield f"the gradients of {whose}{where} were not finite at step {event.step}"
