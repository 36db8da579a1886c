"""`whygrad export RUN`: the numbers of a run for other programs."""

from __future__ import annotations

import click

from whygrad.errors import UsageError


@click.command("export")
@click.argument("run")
@click.option("--dir", "folder", help="Folder of the runs.")
@click.option("--tensorboard", metavar="DIR", help="Write an event file that TensorBoard shows.")
@click.option("--csv", metavar="[DIR]", is_flag=False, flag_value=".", help="Write two tables: scalars and variables.")
@click.option("--parquet", metavar="[DIR]", is_flag=False, flag_value=".", help="The same as Parquet; needs pyarrow.")
def command(run: str, folder: str | None, tensorboard: str | None, csv: str | None, parquet: str | None) -> None:
    """Export a run to TensorBoard, CSV or Parquet."""
    from whygrad.store import find_run

    if tensorboard is None and csv is None and parquet is None:
        raise UsageError("nothing to export to", help="give --tensorboard DIR, --csv or --parquet")
    found = find_run(run, folder)
    written = []
    if tensorboard is not None:
        from whygrad.integrations.tensorboard import export_tensorboard

        written.append(export_tensorboard(found, tensorboard))
    if csv is not None:
        from whygrad.integrations.tables import export_csv

        written.extend(export_csv(found, csv))
    if parquet is not None:
        from whygrad.integrations.tables import export_parquet

        written.extend(export_parquet(found, parquet))
    for path in written:
        click.echo(str(path))
    for text in found.damage:
        click.echo(f"warning: {text}", err=True)
