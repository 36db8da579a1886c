"""`whygrad export RUN`: the numbers of a run for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from whygrad.cli.options import run_names
from whygrad.errors import UsageError

if TYPE_CHECKING:
    from whygrad.store import Run


@click.command(
    "export",
    short_help="Export a run to HTML or other programs.",
    epilog="""\b
Examples:
  whygrad export latest --html run.html
  whygrad export latest --csv tables""",
)
@click.argument("run", shell_complete=run_names)
@click.option("--dir", "folder", help="Folder of the runs.")
@click.option("--html", metavar="FILE", help="Write one page that opens in a browser without a network.")
@click.option("--tensorboard", metavar="DIR", help="Write an event file that TensorBoard shows.")
@click.option("--wandb", metavar="[DIR]", is_flag=False, flag_value=".", help="Write an offline run of W&B.")
@click.option("--mlflow", metavar="[DIR]", is_flag=False, flag_value=".", help="Write a run to mlflow.db there.")
@click.option("--csv", metavar="[DIR]", is_flag=False, flag_value=".", help="Write two tables: scalars and variables.")
@click.option("--parquet", metavar="[DIR]", is_flag=False, flag_value=".", help="The same as Parquet; needs pyarrow.")
def command(run: str, folder: str | None, **places: str | None) -> None:
    """Export a run to one HTML page, TensorBoard, Weights & Biases, MLflow, CSV or Parquet."""
    from whygrad.store import find_run

    wanted = [(_FORMS[form], place) for form, place in places.items() if place is not None]
    if not wanted:
        raise UsageError(
            "no place to export to", help="pass --html FILE, --tensorboard DIR, --wandb, --mlflow, --csv or --parquet"
        )
    found = find_run(run, folder)
    for write, place in wanted:
        try:
            written = write(found, place)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"cannot write to `{place}`: {reason}", help="choose another place") from None
        for path in written:
            click.echo(str(path))
    for text in found.damage:
        click.echo(f"warning: {text}", err=True)


def _html(run: Run, file: str) -> list[Path]:
    from whygrad.web.export import run_page

    Path(file).write_text(run_page(run), encoding="utf-8")
    return [Path(file)]


def _tensorboard(run: Run, folder: str) -> list[Path]:
    from whygrad.cli.doctor import quietly
    from whygrad.integrations.tensorboard import export_tensorboard

    with quietly():
        return [export_tensorboard(run, folder)]


def _csv(run: Run, folder: str) -> list[Path]:
    from whygrad.integrations.tables import export_csv

    return export_csv(run, folder)


def _parquet(run: Run, folder: str) -> list[Path]:
    from whygrad.integrations.tables import export_parquet

    return export_parquet(run, folder)


def _wandb(run: Run, folder: str) -> list[Path]:
    from whygrad.integrations.wandb import export_wandb

    return [export_wandb(run, folder)]


def _mlflow(run: Run, folder: str) -> list[Path]:
    from whygrad.integrations.mlflow import export_mlflow

    return [export_mlflow(run, folder)]


_FORMS: Final[Mapping[str, Callable[[Run, str], list[Path]]]] = {
    "html": _html,
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "mlflow": _mlflow,
    "csv": _csv,
    "parquet": _parquet,
}
