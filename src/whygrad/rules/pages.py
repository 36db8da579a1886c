"""The published pages, from the rules themselves: `python -m whygrad.rules.pages [--check] [FOLDER]`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from whygrad.rules import Rule, all_rules

INDEX: Final = "README.md"
_NOTICE: Final = "<!-- Written by `python -m whygrad.rules.pages` from the rule's docstring. -->\n"


def render_pages() -> Mapping[str, str]:
    """The text of every page by its file name: one for each rule, and the index."""
    pages = {f"{rule.name}.md": _page(rule) for rule in all_rules()}
    return {INDEX: _NOTICE + "\n".join(_index_lines()) + "\n", **pages}


def differences(folder: Path) -> list[str]:
    """What is not in the folder as it should be; empty: it is up to date."""
    wanted = render_pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    missing = [f"{name} is missing" for name in wanted if name not in there]
    stale = [f"{name} is out of date" for name, text in wanted.items() if there.get(name, text) != text]
    return [*missing, *stale, *(f"{name} belongs to no rule" for name in sorted(there.keys() - wanted.keys()))]


def write_pages(folder: Path) -> None:
    """Bring the folder up to date; pages that belong to no rule go."""
    wanted = render_pages()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Write the pages, or with `--check` say what differs and return 1."""
    folder = Path(next((word for word in words if not word.startswith("-")), "docs/rules"))
    if "--check" not in words:
        write_pages(folder)
        return 0
    found = differences(folder)
    for line in found:
        print(f"{folder}: {line}", file=sys.stderr)
    return 1 if found else 0


def _page(rule: Rule) -> str:
    return f"{_NOTICE}# {rule.code} {rule.name}\n\n{rule.page}\n\n*{rule.severity.label}, since {rule.since}*\n"


def _index_lines() -> Iterator[str]:
    yield "# Rules"
    for family, rules in itertools.groupby(all_rules(), key=_family):
        yield from ("", f"## {family}", "", "| code | rule | severity | what it finds |", "| --- | --- | --- | --- |")
        for rule in rules:
            summary = rule.summary.replace("|", "\\|")
            yield f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.severity.label} | {summary} |"


def _family(rule: Rule) -> str:
    """`WG1 no gradient`: the folder that holds rules of this family alone says what they are about."""
    code, of_folder = rule.family, dict[str, set[str]]()
    for each in all_rules():
        of_folder.setdefault(each.check.__module__.split(".")[-2], set()).add(each.family)
    return f"{code} {next(folder for folder, codes in of_folder.items() if codes == {code}).replace('_', ' ')}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
