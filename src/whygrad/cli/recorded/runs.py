"""`whygrad runs`: the recorded runs of a folder."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from whygrad.cli.options import run_names, text_or_json

if TYPE_CHECKING:
    from whygrad.store import RunHeader


@click.group(
    "runs",
    short_help="List, tag, annotate or delete recorded runs.",
    epilog="""\b
Examples:
  whygrad runs
  whygrad runs tag latest baseline""",
    invoke_without_command=True,
)
@click.option("--dir", "folder", help="Folder of the runs; `.whygrad` unless WHYGRAD_DIR names another.")
@text_or_json
@click.pass_context
def command(context: click.Context, folder: str | None, output_format: str) -> None:
    """List recorded runs, newest first; or delete, tag or annotate one."""
    from whygrad.run_folder import run_folder
    from whygrad.store import list_runs

    context.obj = folder
    if context.invoked_subcommand is not None:
        return
    runs = list_runs(folder)
    if output_format == "json":
        click.echo(json.dumps([as_json(run) for run in runs], indent=2))
    elif not runs:
        click.echo(f"there are no runs in `{run_folder(folder)}`")
    else:
        _print(runs)


def as_json(run: RunHeader) -> dict[str, object]:
    return {
        "id": run.id,
        "name": run.name,
        "status": run.status,
        "started": run.started,
        "seconds": run.seconds,
        "last_step": run.last_step,
        "thinned": run.thinned,
        "path": str(run.path),
        "problem": run.problem,
        "worker": run.worker,
    }


def _print(runs: list[RunHeader]) -> None:
    from rich.text import Text

    from whygrad.cli.recorded.tables import duration, print_table

    styles = {"running": "green", "failed": "red", "killed": "red", "unreadable": "red", "interrupted": "yellow"}
    rows = [
        (
            Text(run.id, "bold"),
            Text(run.status, styles.get(run.status, "")),
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started)),
            duration(run.seconds) if run.problem is None else "",
            "" if run.last_step is None else str(run.last_step + 1),
            run.problem or run.title,
        )
        for run in runs
    ]
    print_table(("run", "status", "started", "took", "steps", "name"), rows, right=("took", "steps"))


@command.command(
    "rm",
    epilog="""\b
Example:
  whygrad runs rm calm-otter-12 --yes""",
)
@click.argument("run", shell_complete=run_names)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(folder: str | None, run: str, yes: bool) -> None:
    """Delete RUN for good."""
    from whygrad.store import delete, find_run

    found = find_run(run, folder)
    if yes or click.confirm(f"delete {found.path}?"):
        delete(found)
        click.echo(f"deleted {found.id}")


@command.command(
    "tag",
    epilog="""\b
Example:
  whygrad runs tag latest baseline tuned""",
)
@click.argument("run", shell_complete=run_names)
@click.argument("tags", nargs=-1)
@click.pass_obj
def tag(folder: str | None, run: str, tags: tuple[str, ...]) -> None:
    """Give RUN these TAGS in place of those it has; none takes them away."""
    from whygrad.store import annotate, find_run

    annotate(find_run(run, folder), {"tags": list(tags) or None})


@command.command(
    "note",
    epilog="""\b
Example:
  whygrad runs note latest 'half the learning rate'""",
)
@click.argument("run", shell_complete=run_names)
@click.argument("text")
@click.pass_obj
def note(folder: str | None, run: str, text: str) -> None:
    """Keep TEXT with RUN; an empty one takes it away."""
    from whygrad.store import annotate, find_run

    annotate(find_run(run, folder), {"note": text or None})
