"""`whygrad show RUN`: what a run did, on one screen."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from whygrad.cli.options import run_names, text_or_json

if TYPE_CHECKING:
    from whygrad.store import Run
    from whygrad.store.overview import VariableOverview

_BLOCKS: Final = 8  # stretches of a long run that are read for its table
_NUMBERS: Final = ("median norm", "last norm", "last sum", "zeros", "update/weight", "after clipping")
_ORDERS: Final = {"order": None, "norm": "median", "largest": "largest", "zeros": "zeros", "update": "update_ratio"}


@click.command(
    "show",
    short_help="Show what a run did, on one screen.",
    epilog="""\b
Examples:
  whygrad show latest --sort norm --limit 10
  whygrad show latest --variables --match '*bias'""",
)
@click.argument("run", shell_complete=run_names)
@click.option("--dir", "folder", help="Folder of the runs.")
@click.option(
    "--sort", type=click.Choice(list(_ORDERS)), default="order", show_default=True, help="Order of variables."
)
@click.option("--limit", type=click.IntRange(1), default=None, help="Show only so many variables.")
@click.option("--full", is_flag=True, help="Read every step of a long run, not only parts of it.")
@click.option("--variables", "writers", is_flag=True, help="Show who wrote to each variable, where and at which steps.")
@click.option(
    "--match", default="*", metavar="PATTERN", help="With --variables: only paths like `decoder/kernel`, `*bias`."
)
@text_or_json
def command(
    run: str,
    folder: str | None,
    sort: str,
    limit: int | None,
    full: bool,
    writers: bool,
    match: str,
    output_format: str,
) -> None:
    """Show a run: RUN is an id, the beginning of one, `latest`, or a file."""
    from whygrad.store import find_run
    from whygrad.store.overview import overview

    found = find_run(run, folder)
    if writers:
        _print_ledger(found, match, output_format)
        return
    variables = _sorted(overview(found, None if full else _BLOCKS), sort)[:limit]
    if output_format == "json":
        click.echo(json.dumps(as_json(found, variables), indent=2))
    else:
        _print(found, variables)


def _print_ledger(run: Run, match: str, output_format: str) -> None:
    from whygrad.errors import UsageError
    from whygrad.graph.codec import dump
    from whygrad.report.cells import visible
    from whygrad.report.ledger import ledger_text

    ledger = run.ledger()
    if ledger is None:
        raise UsageError(
            f"run {run.id} has no ledger of its variables",
            help="record it under `whygrad run`, or inside `with wg.watch():`",
        )
    chosen = ledger.of(match)
    click.echo(dump(chosen) if output_format == "json" else "\n".join(map(visible, ledger_text(chosen).split("\n"))))


def _sorted(variables: list[VariableOverview], order: str) -> list[VariableOverview]:
    field = _ORDERS[order]
    if field is None:
        return variables

    def rank(variable: VariableOverview) -> tuple[bool, float]:
        value = float(getattr(variable, field))
        return (math.isnan(value), -value)

    return sorted(variables, key=rank)


def as_json(run: Run, variables: Sequence[VariableOverview]) -> dict[str, Any]:
    from dataclasses import asdict

    from whygrad.report import Report
    from whygrad.report.json import plain, to_data
    from whygrad.store import header_of, workers_of

    header = header_of(run)
    return {
        "run": {"id": run.id, "path": str(run.path), "status": header.status, **plain(run.facts())},
        "tracks": [plain(_track(run, track.name)) for track in run.tracks()],
        "epochs": plain(_epochs(run)),
        "variables": [plain(asdict(variable)) for variable in variables],
        "diagnostics": to_data(Report(diagnostics=run.diagnostics()))["diagnostics"],
        "workers": [[header_of(each).worker, each.id] for each in workers_of(run)],
        "damage": list(run.damage),
    }


def _track(run: Run, name: str) -> dict[str, Any]:
    """First and last number of each scalar of an optimizer."""
    series = run.scalars(name, _BLOCKS)
    ends = {key: [float(values[0]), float(values[-1])] for key, values in series.scalars.items() if len(values)}
    last = int(series.steps[-1]) if len(series.steps) else None
    return {"name": name, "last_step": last, "scalars": ends}


def _print(run: Run, variables: Sequence[VariableOverview]) -> None:
    from rich.text import Text

    from whygrad.cli.recorded.tables import print_rich, print_table, print_workers
    from whygrad.report.cells import visible

    for line in _heading(run):
        print_rich(line)
    for track in run.tracks():
        print_rich(Text.assemble((track.name, "bold"), ": ", _course(run, track.name)))
    epochs = _epochs(run)
    if epochs:
        print_rich(Text.assemble(("epochs", "bold"), f": {len(epochs)}", *_ends(epochs)))
    print_workers(run)
    click.echo()
    headings = ("variable", "shape", *_NUMBERS[:3], "trend", *_NUMBERS[3:], "")
    print_table(headings, (_row(variable) for variable in variables), right=_NUMBERS)
    _print_diagnostics(run)
    for text in run.damage:
        click.echo(f"\nwarning: {visible(text)}", err=True)


def _heading(run: Run) -> Iterator[Any]:
    import time

    from rich.text import Text

    from whygrad.cli.recorded.tables import duration
    from whygrad.store import header_of

    header, facts = header_of(run), run.facts()
    place = facts.get("environment", {})
    yield Text.assemble((run.id, "bold"), f"  {header.status}", f"  {header.title}" if header.title else "")
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(header.started))
    yield f"started {started}, {duration(header.seconds)}, python {' '.join(place.get('argv', []))}".rstrip()
    packages = ", ".join(f"{name} {version}" for name, version in place.get("packages", {}).items())
    commit = f", commit {place['commit'][:10]}" if place.get("commit") else ""
    yield f"{packages}{commit}"
    if facts.get("failure"):
        yield Text(f"ended with {facts['failure']}", "red")
    left_out = header.thinned + int(facts.get("overwritten", 0))
    if left_out:
        yield Text(f"{left_out} steps were left out because the disk did not keep up", "yellow")


def _course(run: Run, name: str) -> str:
    from whygrad.cli.recorded.tables import number

    facts = _track(run, name)
    scalars = facts["scalars"]
    parts = [f"{facts['last_step'] + 1} steps" if facts["last_step"] is not None else "no steps"]
    for key, label in (("loss", "loss"), ("learning_rate", "learning rate"), ("duration", "seconds per step")):
        if key in scalars and not math.isnan(scalars[key][-1]):
            first, last = (number(value) for value in scalars[key])
            parts.append(f"{label} {last}" if first == last or key == "duration" else f"{label} {first} → {last}")
    return ", ".join(parts)


def _epochs(run: Run) -> list[dict[str, Any]]:
    """What `fit` reported at the end of each epoch: metrics, and those of the validation."""
    return [{"step": event.step, **event.data} for event in run.events("epoch")]


def _ends(epochs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The first and the last number of each metric."""
    from whygrad.cli.recorded.tables import number

    for name in dict.fromkeys(name for epoch in epochs for name in epoch if name not in ("step", "epoch")):
        known = [epoch[name] for epoch in epochs if isinstance(epoch.get(name), int | float)]
        yield f", {name} {' → '.join(dict.fromkeys(map(number, (known[0], known[-1]))))}" if known else ""


def _row(variable: VariableOverview) -> tuple[Any, ...]:
    from rich.text import Text

    from whygrad.cli.recorded.tables import number, share, sparkline

    name = Text(variable.name, "red" if variable.missing or variable.nonfinite_steps else "")
    shape = "×".join(map(str, variable.shape)) or "scalar"
    if variable.missing:
        return (name, shape, "missing", *[""] * 7)
    broken = f"NaN or Inf at {variable.nonfinite_steps} steps" if variable.nonfinite_steps else ""
    clipped = "" if variable.clipped > 0.999 or math.isnan(variable.clipped) else f"×{variable.clipped:.2g}"
    return (
        name,
        shape,
        number(variable.median),
        number(variable.last),
        number(variable.last_sum),
        sparkline(variable.trend),
        share(variable.zeros),
        number(variable.update_ratio, 2),
        clipped,
        Text(broken, "red"),
    )


def _print_diagnostics(run: Run) -> None:
    import sys

    from whygrad.report import terminal_width, wants_color, write_report
    from whygrad.report.text import render_diagnostic

    for diagnostic in run.diagnostics():
        text = render_diagnostic(diagnostic, color=wants_color(sys.stdout), width=terminal_width(sys.stdout))
        write_report(sys.stdout, f"\n{text}")
