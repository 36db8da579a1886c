"""`whygrad completion`: what a shell needs to complete commands and options, and what it offers for rules and runs."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

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


def rule_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, names and families of rules that begin like this."""
    from whygrad.cli.rules import FAMILIES
    from whygrad.rules import all_rules

    words = dict(FAMILIES)
    for rule in all_rules():
        words |= {rule.code: rule.name, rule.name: rule.code}
    begun = incomplete.upper(), incomplete.lower()
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(begun)]


select_rules = click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    shell_complete=rule_words,
    help="Only these rules: codes, names or families (WG1).",
)
ignore_rules = click.option(
    "--ignore", multiple=True, metavar="RULES", shell_complete=rule_words, help="Leave out these rules."
)


def run_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of recorded runs that begin like this, and `latest`."""
    from whygrad.store import list_runs

    parents = (context, context.parent)
    folder = next((each.params["folder"] for each in parents if each is not None and each.params.get("folder")), None)
    words = {"latest": "the newest run", **{run.id: run.name or run.status for run in list_runs(folder)}}
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(incomplete)]
