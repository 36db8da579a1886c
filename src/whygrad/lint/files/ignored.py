"""What `.gitignore` files say: the patterns of the folders from the repository's root down to a file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Pattern(NamedTuple):
    """One line of a `.gitignore`."""

    regex: re.Pattern[str]
    negated: bool
    folders_only: bool


def is_ignored(path: Path, *, is_folder: bool) -> bool:
    """Whether git would leave a path out; its folders are asked about on the way down to it."""
    for folder, patterns in _in_force(path.parent):
        inside = path.relative_to(folder).as_posix()
        for pattern in reversed(patterns):
            if (is_folder or not pattern.folders_only) and pattern.regex.match(inside):
                return not pattern.negated
    return False


@cache
def _in_force(folder: Path) -> tuple[tuple[Path, tuple[Pattern, ...]], ...]:
    """The patterns for what lies in a folder, those of the folder itself first."""
    own = _patterns(folder / ".gitignore")
    here = ((folder, own),) if own else ()
    if (folder / ".git").exists() or folder.parent == folder:
        return here
    return (*here, *_in_force(folder.parent))


def _patterns(file: Path) -> tuple[Pattern, ...]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return tuple(pattern for line in lines if (pattern := _pattern(line)) is not None)


def _pattern(line: str) -> Pattern | None:
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated or text.startswith(("\\#", "\\!")) else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    try:
        regex = re.compile(("" if anchored else "(?:.*/)?") + _regex(text.lstrip("/")) + r"\Z")
    except re.error:
        return None
    return Pattern(regex, negated, folders_only)


def _regex(text: str) -> str:
    """A pattern of git as a regular expression: `*` and `?` within a name, `**` across folders."""
    out, i = "", 0
    while i < len(text):
        rest = text[i:]
        if rest.startswith("**/"):
            out, i = out + "(?:.*/)?", i + 3
        elif rest.startswith("**"):
            out, i = out + ".*", i + 2
        elif rest[0] == "*":
            out, i = out + "[^/]*", i + 1
        elif rest[0] == "?":
            out, i = out + "[^/]", i + 1
        elif rest[0] == "[" and "]" in rest[2:]:
            end = rest.index("]", 2)
            inside = rest[1:end].replace("\\", "\\\\")
            out, i = f"{out}[{'^' + inside[1:] if inside.startswith('!') else inside}]", i + end + 1
        else:
            out, i = out + re.escape(rest[0]), i + 1
    return out
