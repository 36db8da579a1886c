"""`whygrad explain`: the page of a rule."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from whygrad.cli.options import rule_words
from whygrad.cli.rules import plain_lines
from whygrad.errors import UsageError

if TYPE_CHECKING:
    from whygrad.rules import Rule


@click.command(
    "explain",
    short_help="Say what a diagnostic means, and how to fix it.",
    epilog="""\b
Examples:
  whygrad explain WG103
  whygrad explain stop-gradient
  whygrad explain WG1""",
)
@click.argument("rule", metavar="CODE|NAME|FAMILY", shell_complete=rule_words)
def command(rule: str) -> None:
    """Say what a diagnostic means, with an example and how to fix it; of a family (WG1), list its rules."""
    members = family_of(rule)
    if members:
        click.echo("\n".join(plain_lines(members)))
        return
    page = static_page(rule) if rule[:2].upper() == "WL" else page_of(look_up(rule))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page, code_theme="ansi_dark"))
    else:
        click.echo(page)


def family_of(word: str) -> tuple[Rule, ...]:
    """The rules that the beginning of a code stands for; none for a whole code, and for a name."""
    from whygrad.diagnostics.selection import matches
    from whygrad.rules import all_rules, find_rule

    if find_rule(word) is not None or len(word) < 3:
        return ()
    return tuple(rule for rule in all_rules() if matches(word, rule.code, rule.name))


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
    raise UsageError(f"unknown rule `{word}`", help="`whygrad rules` lists the codes and names")


def page_of(rule: Rule) -> str:
    """The whole page as Markdown, under a title."""
    return f"# {rule.code} {rule.name}\n\n{rule.page}\n\n*{rule.severity.label}, since {rule.since}*"
