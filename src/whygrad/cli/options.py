"""Options that several commands have, and what a shell offers for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])


def rule_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, names and families of rules that begin like this."""
    from whygrad.rules import FAMILIES, all_rules

    words = dict(FAMILIES)
    for rule in all_rules():
        words |= {rule.code: rule.name, rule.name: rule.code}
    begun = incomplete.upper(), incomplete.lower()
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(begun)]


def rules_option(name: str, *, help: str) -> Callable[[F], F]:
    """An option that takes rules, and may be given several times."""
    return click.option(name, multiple=True, metavar="RULES", shell_complete=rule_words, help=help)


select_rules = rules_option("--select", help="Only these rules: codes, names or families (WG1).")
ignore_rules = rules_option("--ignore", help="Leave out these rules.")
text_or_json = click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the output.",
)


def run_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of recorded runs that begin like this, and `latest`."""
    from whygrad.store import list_runs

    parents = (context, context.parent)
    folder = next((each.params["folder"] for each in parents if each is not None and each.params.get("folder")), None)
    words = {"latest": "the newest run", **{run.id: run.name or run.status for run in list_runs(folder)}}
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(incomplete)]
