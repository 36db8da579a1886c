"""`whygrad export RUN`: the numbers of a run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from whygrad.errors import UsageError


@click.command("export")
@click.argument("run")
@click.option("--dir", "folder", help="Folder of the runs.")
@click.option("--html", metavar="FILE", help="Write one page that opens in a browser without a network.")
@click.option("--tensorboard", metavar="DIR", help="Write an event file that TensorBoard shows.")
@click.option("--csv", metavar="[DIR]", is_flag=False, flag_value=".", help="Write two tables: scalars and variables.")
@click.option("--parquet", metavar="[DIR]", is_flag=False, flag_value=".", help="The same as Parquet; needs pyarrow.")
def command(
    run: str, folder: str | None, html: str | None, tensorboard: str | None, csv: str | None, parquet: str | None
) -> None:
    """Export a run to one HTML page, TensorBoard, CSV or Parquet."""
    from whygrad.store import find_run

    if html is None and tensorboard is None and csv is None and parquet is None:
        raise UsageError("nothing to export to", help="give --html FILE, --tensorboard DIR, --csv or --parquet")
    found = find_run(run, folder)
    written: list[str | Path] = []
    if html is not None:
        from whygrad.web.export import run_page

        text = run_page(found)
        try:
            Path(html).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write `{html}`: {error.strerror}") from None
        written.append(html)
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
