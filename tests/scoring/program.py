"""A program of the gallery with what its header says of it, and the list of known limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

GALLERY = Path(__file__).parent.parent / "gallery"
KNOWN_LIMITS = GALLERY / "known_limits.txt"

NONE = "-"  # in any field: there is none


@dataclass(frozen=True, slots=True)
class Program:
    """What is true of one program; `also` holds findings that are true of it but are not its cause."""

    file: Path
    healthy: bool
    causes: frozenset[str]
    lines: frozenset[int]  # empty: any line
    variables: tuple[str, ...] = ()  # names that the diagnosis must give; `*` stands for anything
    also: frozenset[tuple[str, int]] = frozenset()  # rule and line

    @property
    def name(self) -> str:
        return self.file.stem


def read(file: Path) -> Program:
    """The program in a file; a header that cannot be read is an error."""
    fields = dict(re.findall(r"^# (\w+): (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE))
    cause, _, also = fields["cause"].partition("; also: ")
    return Program(
        file=file,
        healthy=_choice(file, fields["verdict"].split(";")[0], bug=False, healthy=True),
        causes=frozenset(_words(cause, "|")),
        lines=frozenset(map(int, _words(fields["expect_line"], " "))),
        variables=_words(fields["expect_variables"], ","),
        also=frozenset(_rule_and_line(each) for each in _words(also, ",")),
    )


def all_programs() -> list[Path]:
    return sorted(GALLERY.glob("[0-9]*.py"))


def read_known_limits(text: str) -> dict[str, str]:
    """Why each program that does not pass yet does not: `name: one sentence` on a line of its own."""
    limits: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, reason = line.partition(": ")
        if not colon or not reason.strip() or name in limits:
            raise ValueError(f"not `name: reason`, or there already: {line!r}")
        limits[name] = reason.strip()
    return limits


def _words(text: str, separator: str) -> tuple[str, ...]:
    """What is listed in a field, without the remark in parentheses."""
    bare = re.sub(r"\([^()]*\)", "", text).strip()
    words = tuple(word.strip() for word in bare.split(separator) if word.strip())
    return () if words == (NONE,) else words


def _rule_and_line(text: str) -> tuple[str, int]:
    rule, line = text.split(" at line ")
    return rule, int(line)


def _choice(file: Path, word: str, **meanings: bool) -> bool:
    if word not in meanings:
        raise ValueError(f"{file.name}: the verdict is `bug` or `healthy`, not {word!r}")
    return meanings[word]
