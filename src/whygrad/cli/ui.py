"""`whygrad ui`: look at recorded runs in a browser."""

from __future__ import annotations

import contextlib
import os
from typing import Final

import click

from whygrad.errors import UsageError

_GIVING_WAY: Final = 10  # of 19


@click.command(
    "ui",
    short_help="Show recorded runs in a browser.",
    epilog="""\b
Example:
  whygrad ui --open""",
)
@click.argument("folder", required=False, metavar="[DIR]")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to serve at; one that others can reach needs the token of the link.",
)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port. [default: any free one]")
@click.option("--open", "browse", is_flag=True, help="Open the page in a browser.")
def command(folder: str | None, host: str, port: int, browse: bool) -> None:
    """Show the runs of DIR (`.whygrad`) in a browser, also while they are written."""
    try:
        from whygrad.web.server import Server
    except ImportError as error:
        raise UsageError(f"`whygrad ui` needs {error.name}", help="pip install 'whygrad[ui]'") from None
    from whygrad.run_folder import run_folder

    server = Server(run_folder(folder), host, port)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_GIVING_WAY)  # a training on this machine goes first
    click.echo(f"whygrad: {server.link} (Ctrl-C ends it)")
    if browse:
        import webbrowser

        webbrowser.open(server.link)
    server.serve()
