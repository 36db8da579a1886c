"""What was found in files that have not changed, kept in one JSON file; trusted only for the same content and rules."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from whygrad.backends import FRAMEWORKS
from whygrad.diagnostics import Diagnostic, Edit, Fix, FixSafety, Label, Severity
from whygrad.lint.files.checked import Checked
from whygrad.run_folder import run_folder
from whygrad.source import SourceSpan

_FILE: Final = "lint.json"
_MOST: Final = 200_000  # files


class Cache:
    """Answers by path, size and time of change; where these differ, by the content."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / _FILE
        self._rules = _fingerprint()
        self._entries: dict[str, list[Any]] = self._read()
        self._changed = False

    def _read(self) -> dict[str, list[Any]]:
        if self._file is None:
            return {}
        try:
            document = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(document, dict) or document.get("rules") != self._rules:
            return {}
        entries = document.get("files")
        return entries if isinstance(entries, dict) else {}

    def look_up(self, file: Path) -> Checked | None:
        """What is known of a file as it is on disk."""
        entry = self._entries.get(str(file))
        if entry is None:
            return None
        try:
            found = os.stat(file)
            stamp = [found.st_mtime_ns, found.st_size]
            if entry[0] != stamp:
                if entry[0][1] != stamp[1] or entry[1] != digest(file.read_bytes()):
                    return None
                entry[0] = stamp
                self._changed = True
            if any(_stamp(other) != stamp for other, stamp in entry[4].items()):
                return None
            return _checked(entry[2], entry[3], tuple(entry[4]))
        except (OSError, LookupError, TypeError, ValueError, KeyError):
            return None

    def keep(self, file: Path, content: str, checked: Checked) -> None:
        """Remember what was found in a file whose content has this digest."""
        if self._file is None or len(self._entries) >= _MOST:
            return
        try:
            found = os.stat(file)
        except OSError:
            return
        rows = [_row(each) for each in checked.diagnostics]
        needs = {other: _stamp(other) for other in checked.needs}
        self._entries[str(file)] = [[found.st_mtime_ns, found.st_size], content, rows, checked.sources, needs]
        self._changed = True

    def write(self) -> None:
        """Put it on disk, in one move; where that is not possible the next run starts anew."""
        if self._file is None or not self._changed:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps({"rules": self._rules, "files": self._entries}), encoding="utf-8")
            os.replace(part, self._file)
        except OSError:
            pass


def default_folder() -> Path:
    return Path(os.path.abspath(run_folder()))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fingerprint() -> str:
    """Changes with the rules themselves."""
    home = Path(__file__).parents[2]
    stamps = []
    files = [path for room in ("lint", "source", "diagnostics") for path in sorted((home / room).rglob("*.py"))]
    files += (home.joinpath(*backend.split(".")[1:], "api.py") for backend in FRAMEWORKS.values())
    for path in files:
        found = path.stat()
        stamps.append(f"{path.name}{found.st_mtime_ns}{found.st_size}")
    return hashlib.sha256("".join(stamps).encode()).hexdigest()


def _row(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "rule": diagnostic.rule,
        "severity": int(diagnostic.severity),
        "message": diagnostic.message,
        "primary": _label_row(diagnostic.primary),
        "variables": list(diagnostic.variables),
        "related": [_label_row(each) for each in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "certain": diagnostic.certain,
        "fixes": [
            [fix.title, fix.safety.value, [_label_row(Label(edit.span, edit.text)) for edit in fix.edits]]
            for fix in diagnostic.fixes
        ],
    }


def _label_row(label: Label | None) -> list[Any] | None:
    if label is None:
        return None
    span = label.span
    return [span.file, span.line, span.column, span.end_line, span.end_column, label.text]


def _label(row: list[Any] | None) -> Label | None:
    return None if row is None else Label(SourceSpan(*row[:5]), str(row[5]))


def _stamp(file: str) -> list[int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size]


def _checked(rows: list[Mapping[str, Any]], sources: dict[str, str], needs: tuple[str, ...]) -> Checked:
    return Checked(tuple(_diagnostic(row) for row in rows), dict(sources), needs)


def _diagnostic(row: Mapping[str, Any]) -> Diagnostic:
    related = (_label(each) for each in row["related"])
    return Diagnostic(
        code=row["code"],
        rule=row["rule"],
        severity=Severity(row["severity"]),
        message=row["message"],
        primary=_label(row["primary"]),
        variables=tuple(row["variables"]),
        related=tuple(each for each in related if each is not None),
        notes=tuple(row["notes"]),
        help=row["help"],
        certain=row["certain"],
        fixes=tuple(_fix(*each) for each in row["fixes"]),
    )


def _fix(title: str, safety: str, edits: list[list[Any]]) -> Fix:
    made = tuple(Edit(SourceSpan(*row[:5]), str(row[5])) for row in edits)
    return Fix(title=title, edits=made, safety=FixSafety(safety))
