"""`whygrad compare A B`: where two runs part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from whygrad.cli.options import run_names, text_or_json

if TYPE_CHECKING:
    from whygrad.store import Run
    from whygrad.store.comparison import Comparison


@click.command(
    "compare",
    short_help="Show where two runs diverge.",
    epilog="""\b
Example:
  whygrad compare calm-otter-12 latest --tolerance 0.05""",
)
@click.argument("left", shell_complete=run_names)
@click.argument("right", shell_complete=run_names)
@click.option("--dir", "folder", help="Folder of the runs.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.01,
    show_default=True,
    help="Numbers that differ by less than this share count as the same; with 0 they must be equal.",
)
@text_or_json
def command(left: str, right: str, folder: str | None, tolerance: float, output_format: str) -> None:
    """Show which variables of two runs diverge, and the first step at which they do."""
    from whygrad.store import find_run
    from whygrad.store.comparison import compare

    runs = find_run(left, folder), find_run(right, folder)
    result = compare(*runs, tolerance)
    if output_format == "json":
        click.echo(json.dumps(as_json(runs, result, tolerance), indent=2))
    else:
        _print(runs, result, tolerance)


def as_json(runs: tuple[Run, Run], result: Comparison, tolerance: float) -> dict[str, object]:
    from dataclasses import asdict

    from whygrad.report.json import plain

    return {
        "runs": [run.id for run in runs],
        "tolerance": tolerance,
        "entries": [plain(asdict(entry)) for entry in result.entries],
        "only_left": list(result.only_left),
        "only_right": list(result.only_right),
    }


def _print(runs: tuple[Run, Run], result: Comparison, tolerance: float) -> None:
    from whygrad.cli.recorded.tables import number, print_table
    from whygrad.report.cells import visible
    from whygrad.store import header_of

    left, right = (f"{run.id} ({worker})" if (worker := header_of(run).worker) else run.id for run in runs)
    parted, same = result.parted, len(result.entries) - len(result.parted)
    if parted:
        rows = [
            (
                e.name,
                str((e.step or 0) + 1),
                e.channel.replace("_", " "),
                number(e.left),
                number(e.right),
                number(e.last_ratio),
            )
            for e in parted
        ]
        headings = ("what", "from step", "first difference in", left, right, "ratio at the last step")
        print_table(headings, rows, right=headings[1:2] + headings[3:])
        click.echo()
    compared = max((entry.steps for entry in result.entries), default=0)
    click.echo(f"{len(parted)} diverge by more than {100 * tolerance:.3g} %, {same} agree; {compared} common steps")
    for run_id, names in ((left, result.only_left), (right, result.only_right)):
        if names:
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            click.echo(f"only in {run_id}: {visible(shown)}")
