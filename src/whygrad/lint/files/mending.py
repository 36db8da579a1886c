"""Apply fixes to a file: one after the other, each kept only if lint then finds less."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whygrad.diagnostics import Diagnostic, Fix, FixSafety, Severity
from whygrad.lint.files.checking import check_bytes
from whygrad.source.editing import EditError, FileText, edited, read_source

_MOST: Final = 100  # fixes of one file


@dataclass(frozen=True, slots=True)
class Mended:
    """A file before and after."""

    file: Path
    before: str
    after: FileText
    titles: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        return self.before != self.after.text

    def write(self) -> None:
        """In one move, so that nobody sees half a file; its permissions stay."""
        part = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        part.write_bytes(self.after.data)
        os.chmod(part, os.stat(self.file).st_mode)
        os.replace(part, self.file)


def mended(file: Path, admit: Callable[[Diagnostic], bool], *, unsafe: bool) -> Mended | None:
    """The file with what can be fixed in it; None where it cannot be read, or is a notebook."""
    if file.suffix == ".ipynb":
        return None
    try:
        source = read_source(str(file))
    except (OSError, SyntaxError, UnicodeError, LookupError):
        return None
    text, titles, tried = source.text, list[str](), set[object]()
    found = _found(file, source, text, admit)
    while len(titles) < _MOST:
        for fix in _untried(file, found, tried, unsafe=unsafe):
            try:
                changed = edited(text, [(edit.span, edit.text) for edit in fix.edits])
            except EditError:
                continue
            left = _found(file, source, changed, admit)
            if _weight(left) < _weight(found) and not any(each.rule == "unreadable-file" for each in left):
                text, found = changed, left
                titles.append(fix.title)
                break
        else:
            break
    return Mended(file, source.text, FileText(text, source.encoding), tuple(titles))


def _found(file: Path, source: FileText, text: str, admit: Callable[[Diagnostic], bool]) -> list[Diagnostic]:
    data = FileText(text, source.encoding).data
    return [each for each in check_bytes(str(file), data).diagnostics if admit(each)]


def _weight(found: list[Diagnostic]) -> tuple[int, int]:
    """Errors and warnings first: a fix may bring a note."""
    return sum(each.severity > Severity.NOTE for each in found), len(found)


def _untried(file: Path, found: list[Diagnostic], tried: set[object], *, unsafe: bool) -> Iterator[Fix]:
    allowed = (FixSafety.SAFE, FixSafety.UNSAFE) if unsafe else (FixSafety.SAFE,)
    for diagnostic in found:
        for fix in diagnostic.fixes:
            own = all(edit.span.file == str(file) for edit in fix.edits)
            if own and fix.safety in allowed and fix not in tried:
                tried.add(fix)
                yield fix
