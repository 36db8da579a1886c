"""Apply fixes to a file: one after the other, each kept only if lint then finds less."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whygrad.diagnostics import Diagnostic, Fix, FixSafety, Severity
from whygrad.lint.files.checking import check_bytes
from whygrad.lint.files.notebook import Notebook, read_notebook
from whygrad.source import cell_name
from whygrad.source.editing import EditError, FileText, edited, read_source

_MOST: Final = 100  # fixes of one file


@dataclass(frozen=True, slots=True)
class Mended:
    """A file before and after."""

    file: Path
    before: FileText | Notebook
    after: FileText | Notebook
    titles: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """What differs: the name of the file or cell, its text before and after."""
        if isinstance(self.before, FileText) or isinstance(self.after, FileText):
            yield str(self.file), self.before.text, self.after.text
            return
        for old, new in zip(self.before.cells(), self.after.cells(), strict=True):
            if old.code != new.code:
                yield cell_name(str(self.file), old.number), old.code, new.code

    def write(self) -> None:
        """In one move, so that nobody sees half a file; its permissions stay."""
        part = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        part.write_bytes(self.after.data)
        os.chmod(part, os.stat(self.file).st_mode)
        os.replace(part, self.file)


def mended(file: Path, admit: Callable[[Diagnostic], bool], *, unsafe: bool) -> Mended | None:
    """The file with what can be fixed in it; None where it cannot be read."""
    try:
        before = read_notebook(file.read_bytes()) if file.suffix == ".ipynb" else read_source(str(file))
        found = _found(file, before, admit)
    except (OSError, SyntaxError, UnicodeError, LookupError):
        return None
    text, titles, tried = before, list[str](), set[object]()
    while len(titles) < _MOST:
        for fix in _untried(file, found, tried, unsafe=unsafe):
            try:
                changed = _edited(text, fix)
            except (EditError, ValueError, IndexError):
                continue
            left = _found(file, changed, admit)
            if _weight(left) < _weight(found) and _unreadable(left) <= _unreadable(found):
                text, found = changed, left
                titles.append(fix.title)
                break
        else:
            break
    return Mended(file, before, text, tuple(titles))


def _edited(text: FileText | Notebook, fix: Fix) -> FileText | Notebook:
    edits = [(edit.span, edit.text) for edit in fix.edits]
    return text.edited(edits) if isinstance(text, Notebook) else FileText(edited(text.text, edits), text.encoding)


def _found(file: Path, text: FileText | Notebook, admit: Callable[[Diagnostic], bool]) -> list[Diagnostic]:
    return [each for each in check_bytes(str(file), text.data).diagnostics if admit(each)]


def _unreadable(found: list[Diagnostic]) -> int:
    """How many files or cells do not parse."""
    return sum(each.rule == "unreadable-file" for each in found)


def _weight(found: list[Diagnostic]) -> tuple[int, int]:
    """Errors and warnings first: a fix may bring a note."""
    return sum(each.severity > Severity.NOTE for each in found), len(found)


def _untried(file: Path, found: list[Diagnostic], tried: set[object], *, unsafe: bool) -> Iterator[Fix]:
    allowed = (FixSafety.SAFE, FixSafety.UNSAFE) if unsafe else (FixSafety.SAFE,)
    for diagnostic in found:
        for fix in diagnostic.fixes:
            own = all(edit.span.file == str(file) or edit.span.file.startswith(f"{file}:") for edit in fix.edits)
            if own and fix.safety in allowed and fix not in tried:
                tried.add(fix)
                yield fix
