"""The command line: which command, and what becomes of a mistake in it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Final

import click

from whygrad import __version__
from whygrad.cli.complaint import WRONG_USAGE, complain
from whygrad.errors import UsageError

COMMANDS: Final = {
    "compare": "whygrad.cli.recorded.compare",
    "completion": "whygrad.cli.completion",
    "doctor": "whygrad.cli.doctor",
    "explain": "whygrad.cli.explain",
    "export": "whygrad.cli.recorded.export",
    "fix": "whygrad.cli.fix",
    "lint": "whygrad.cli.linting.command",
    "replay": "whygrad.cli.replay",
    "rules": "whygrad.cli.rules",
    "run": "whygrad.cli.run",
    "runs": "whygrad.cli.recorded.runs",
    "server": "whygrad.cli.linting.server",
    "show": "whygrad.cli.recorded.show",
    "ui": "whygrad.cli.ui",
}

Todo = Callable[[], int]


class Commands(click.Group):
    """Imports the file of a command when the command is wanted, so that one does not pay for all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  whygrad run train.py        watch a script, and explain its gradients
  whygrad lint src            find gradient mistakes without running anything
  whygrad explain WG103       what a diagnostic means
  whygrad completion --help   how to let your shell complete all of this""",
)
@click.version_option(__version__, prog_name="whygrad")
def whygrad() -> None:
    """Why is my gradient missing, zero, NaN or wrong? Answers for TensorFlow and Keras."""


def parse(argv: Sequence[str]) -> int | Todo:
    """An exit status where the command is done, or what is left to do outside of click.

    A script is run after click has returned: click turns KeyboardInterrupt and broken pipes into its own messages.
    """
    try:
        result = whygrad.main(list(argv), prog_name="whygrad", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return WRONG_USAGE
    except click.ClickException as error:
        return complain(UsageError(_sentence(error.format_message())))
    except click.Abort:
        return 130
    except UsageError as error:
        return complain(error)
    if callable(result):
        return _without_click(result)
    return result if isinstance(result, int) else 0


def _sentence(text: str) -> str:
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def _without_click(todo: Todo) -> Todo:
    """Forget click's modules, so that a script beside which another `click.py` lies imports its own."""
    for name in [name for name in sys.modules if name == "click" or name.startswith("click.")]:
        del sys.modules[name]
    return todo
