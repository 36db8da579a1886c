"""`whygrad rules`: what it can find."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from whygrad.cli.options import text_or_json

if TYPE_CHECKING:
    from whygrad.rules import Rule


@click.command(
    "rules",
    epilog="""\b
Example:
  whygrad rules --output-format json""",
)
@text_or_json
def command(output_format: str) -> None:
    """List all rules."""
    from whygrad.rules import all_rules

    if output_format == "json":
        listed = [_as_json(title, rule) for _, title, members in by_family(all_rules()) for rule in members]
        click.echo(json.dumps(listed, indent=2))
    elif sys.stdout.isatty():
        _print_table(all_rules())
    else:
        click.echo("\n".join(plain_lines(all_rules())))


def by_family(rules: Iterable[Rule]) -> Iterator[tuple[str, str, list[Rule]]]:
    """(`WG1`, its title, its rules) for each family that has rules."""
    from whygrad.rules import FAMILIES

    for family, members in itertools.groupby(rules, key=lambda rule: rule.family):
        yield family, FAMILIES.get(family, ""), list(members)


def _as_json(family: str, rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "family": family,
        "severity": rule.severity.label,
        "since": rule.since,
        "summary": rule.summary,
    }


def plain_lines(rules: tuple[Rule, ...]) -> Iterator[str]:
    """One line for each rule, under the title of its family."""
    width = max((len(rule.name) for rule in rules), default=0)
    for index, (family, title, members) in enumerate(by_family(rules)):
        if index:
            yield ""
        yield f"{family} {title}"
        for rule in members:
            yield f"  {rule.code}  {rule.name:{width}}  {rule.severity.label:7}  {rule.summary}"


def _print_table(rules: tuple[Rule, ...]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for no_wrap in (True, True, True, False):
        table.add_column(no_wrap=no_wrap)
    for index, (family, title, members) in enumerate(by_family(rules)):
        if index:
            table.add_row()
        table.add_row(Text(family, "bold"), Text(title, "bold"))
        for rule in members:
            table.add_row(rule.code, Text(rule.name, "cyan"), rule.severity.label, Text(rule.summary))
    Console(highlight=False).print(table)
