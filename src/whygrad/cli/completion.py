"""`whygrad completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

_SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_WHYGRAD_COMPLETE"


@click.command(
    "completion",
    short_help="Print what a shell needs to complete whygrad.",
    epilog="""\b
Examples:
  whygrad completion bash >> ~/.bashrc
  whygrad completion zsh >> ~/.zshrc
  whygrad completion fish > ~/.config/fish/completions/whygrad.fish""",
)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that lets SHELL complete commands, options, codes and names of rules, and ids of runs."""
    completion = get_completion_class(shell)
    assert completion is not None
    script = completion(context.find_root().command, {}, "whygrad", _VARIABLE)
    click.echo(script.source_template % script.source_vars())
