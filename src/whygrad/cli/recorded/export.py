"""`whygrad export RUN`: the numbers of a run for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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

    wanted = {form: place for form, place in places.items() if place is not None}
    if not wanted:
        raise UsageError(
            "no place to export to", help="pass --html FILE, --tensorboard DIR, --wandb, --mlflow, --csv or --parquet"
        )
    found = find_run(run, folder)
    for form, place in wanted.items():
        try:
            written = _export(form, found, place)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"cannot write to `{place}`: {reason}", help="choose another place") from None
        for path in written:
            click.echo(str(path))
    for text in found.damage:
        click.echo(f"warning: {text}", err=True)


def _export(form: str, run: Run, place: str) -> list[Path]:
    """Write a run in one form: the files. Each form has its own library, which is imported for it only."""
    match form:
        case "html":
            from whygrad.web.export import run_page

            Path(place).write_text(run_page(run), encoding="utf-8")
            return [Path(place)]
        case "tensorboard":
            from whygrad.cli.doctor import quietly
            from whygrad.integrations.tensorboard import export_tensorboard

            with quietly():
                return [export_tensorboard(run, place)]
        case "wandb":
            from whygrad.integrations.wandb import export_wandb

            return [export_wandb(run, place)]
        case "mlflow":
            from whygrad.integrations.mlflow import export_mlflow

            return [export_mlflow(run, place)]
    from whygrad.integrations.tables import export_csv, export_parquet

    return export_csv(run, place) if form == "csv" else export_parquet(run, place)
