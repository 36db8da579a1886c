"""`whygrad server`: a language server for editors."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whygrad import __version__
from whygrad.errors import UsageError

if TYPE_CHECKING:
    from whygrad.cli.linting.report import Wanted
    from whygrad.diagnostics import Diagnostic


@click.command(
    "server",
    short_help="Serve an editor: findings while you type.",
    epilog="""\b
Example:
  whygrad server""",
)
def command() -> None:
    """Serve an editor over standard input and output: findings while one types, quick fixes, pages on hover."""
    try:
        from whygrad.lint.server.server import Server
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("the language server needs `pygls`", help="pip install 'whygrad[server]'") from None
    Server(_admit, __version__).server.start_io()


def _admit(file: Path, diagnostic: Diagnostic) -> bool:
    """What the project of a file wants to hear of."""
    return _wanted(file.parent).admit(file, diagnostic)


@cache
def _wanted(folder: Path) -> Wanted:
    from whygrad.cli.linting.command import selection_of
    from whygrad.cli.linting.report import Wanted
    from whygrad.config import Config, find_config

    try:
        config = find_config(folder)
        per_file = tuple((pattern, selection_of((), (), words)) for pattern, words in config.per_file_ignores)
        selection = selection_of(config.select, config.extend_select, config.ignore)
    except UsageError:  # a mistake in the settings: an editor should go on
        return Wanted(selection=selection_of(Config().select, (), ()))
    return Wanted(selection=selection, per_file=per_file)
