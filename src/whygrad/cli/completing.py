"""What a shell may offer where a rule or a run is wanted."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def rule_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, names and families of rules that begin like this."""
    from whygrad.cli.rules import FAMILIES
    from whygrad.rules import all_rules

    words = dict(FAMILIES)
    for rule in all_rules():
        words |= {rule.code: rule.name, rule.name: rule.code}
    begun = incomplete.upper(), incomplete.lower()
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(begun)]


def run_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of recorded runs that begin like this, and `latest`."""
    from whygrad.store import list_runs

    parents = (context, context.parent)
    folder = next((each.params["folder"] for each in parents if each is not None and each.params.get("folder")), None)
    words = {"latest": "the newest run", **{run.id: run.name or run.status for run in list_runs(folder)}}
    return [CompletionItem(word, help=about) for word, about in words.items() if word.startswith(incomplete)]
