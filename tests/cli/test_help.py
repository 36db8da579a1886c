"""Every command ends its help with an example, and the list of commands says what each does without being cut off."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from whygrad.cli.commands import parse, whygrad


def commands(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        yield (*names, name)
        if isinstance(found, click.Group):
            yield from commands(found, *names, name)


@pytest.mark.parametrize("words", [(), *commands(whygrad)], ids=" ".join)
def test_help_ends_with_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    parse([*words, "--help"])

    text = capsys.readouterr().out
    examples = text.rstrip().rpartition("Example")[2].splitlines()[1:]
    assert examples
    assert all(line.startswith(f"    {' '.join(('whygrad', *words))}".rstrip()) for line in examples)


@pytest.mark.parametrize("words", [(), ("runs",)])
def test_no_line_of_the_list_of_commands_is_cut_off(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    parse([*words, "--help"])

    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed
