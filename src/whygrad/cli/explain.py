"""`whygrad explain`: the page of a rule."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from whygrad.errors import UsageError

if TYPE_CHECKING:
    from whygrad.rules import Rule


@click.command("explain")
@click.argument("rule", metavar="CODE|NAME")
def command(rule: str) -> None:
    """Say what a diagnostic means, with an example and how to mend it."""
    page = page_of(look_up(rule)) if not _is_static(rule) else static_page(rule)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page, code_theme="ansi_dark"))
    else:
        click.echo(page)


def _is_static(word: str) -> bool:
    return word[:2].upper() == "WL"


def static_page(word: str) -> str:
    """The page of a rule of lint, which it shares with its twin."""
    from whygrad.lint.pages import static_pages

    for rule in static_pages():
        if rule.code == word.upper():
            return f"# {rule.code} {rule.name}\n\n{rule.page}\n\n*{rule.severity.label}, seen without running*"
    raise UsageError(f"unknown rule `{word}`", help="`whygrad rules` lists the codes and names")


def look_up(word: str) -> Rule:
    """The rule with this code or name; a UsageError that names the nearest one."""
    from whygrad.diagnostics import parse_selection
    from whygrad.rules import all_rules, find_rule

    found = find_rule(word)
    if found is not None:
        return found
    parse_selection((word,), (), [(rule.code, rule.name) for rule in all_rules()])
    raise UsageError(f"`{word}` stands for several rules", help="`whygrad rules` lists the codes and names")


def page_of(rule: Rule) -> str:
    """The whole page as Markdown, under a title."""
    return f"# {rule.code} {rule.name}\n\n{rule.page}\n\n*{rule.severity.label}, since {rule.since}*"
