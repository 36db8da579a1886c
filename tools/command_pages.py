"""Write docs/commands.md: every command with its arguments and options, from the commands themselves.

python tools/command_pages.py [--check]
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from whygrad import config
from whygrad.cli import commands

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
HEAD = """<!-- Written by `python tools/command_pages.py`. -->
# Commands

`whygrad COMMAND --help` says the same on the terminal. Exit status 2 means that the command itself was wrong, and that
nothing was run.
"""


SETTINGS = """## `[tool.whygrad]`

What a project asks for, in the nearest `pyproject.toml` above the script. An option of the command line goes before it,
and with `--no-config` it is not read.

```toml
[tool.whygrad]
ignore = ["dead-units"]
fail-on = "error"

[tool.whygrad.per-file-ignores]
"tests/*" = ["training-flag"]
```

| key | what it sets |
| --- | --- |
"""
KEYS = {
    "select": "only these rules: a list of codes, names or families (`WG1`)",
    "extend-select": "`lint`: these rules as well",
    "ignore": "leave out these rules",
    "per-file-ignores": "`lint`: a table of patterns of paths, and the rules to leave out there",
    "exclude": "`lint`: leave out files and folders with these names",
    "fail-on": f"`run` and pytest: exit with 1 if there is such a finding: {', '.join(config.FAIL_ON)}",
    "output-format": f"form of the report: {', '.join(config.OUTPUT_FORMATS)}",
}
VARIABLES = """
`WHYGRAD_DIR` names the folder of the runs, which is `.whygrad` in the working folder without it.
"""


def page() -> str:
    """The whole page."""
    root = commands.whygrad
    parts = [HEAD, *_section(root, click.Context(root, info_name="whygrad"))]
    settings = SETTINGS + "\n".join(f"| `{key}` | {KEYS[key]} |" for key in config.KEYS) + "\n" + VARIABLES
    return "\n".join([*parts, settings]).rstrip() + "\n"


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    if context.parent is not None:
        usage = command.get_usage(context).removeprefix("Usage: ").split()
        yield f"## `{context.command_path}`\n\n```console\n$ {' '.join(usage)}\n```\n\n{_prose(command.help or '')}\n"
        records = filter(None, (each.get_help_record(context) for each in command.get_params(context)))
        rows = [f"| {_code(names)} | {_cell(text)} |" for names, text in records if text and "--help" not in names]
        yield "\n".join(["| option | what it does |", "| --- | --- |", *rows, ""]) if rows else ""
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            yield from _section(inner, click.Context(inner, info_name=name, parent=context))


def _prose(text: str) -> str:
    """Paragraphs as they are; what `\\b` keeps in lines is a block."""
    parts = []
    for part in re.split(r"\n\s*\n", text.strip()):
        kept = part.startswith("\b")
        lines = part.lstrip("\b\n").splitlines()
        parts.append("```console\n" + "\n".join(lines) + "\n```" if kept else " ".join(line.strip() for line in lines))
    return "\n\n".join(parts)


def _code(text: str) -> str:
    """In a table a bar inside of backticks is shown with its backslash by some, and ends the cell for others."""
    return f"<code>{html.escape(' '.join(text.split())).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where it is out of date")
    new = page()
    if parser.parse_args().check:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == new else "docs/commands.md is out of date: run `make docs`")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
