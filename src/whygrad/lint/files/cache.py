"""What was found in files that have not changed, kept in one JSON file; trusted only for the same content and rules."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeVar

from whygrad.backends import FRAMEWORKS
from whygrad.diagnostics import Diagnostic, Edit, Fix, FixSafety, Label, Severity, Steps
from whygrad.lint.files.checked import Checked
from whygrad.run_folder import run_folder
from whygrad.source import SourceSpan

_FILE: Final = "lint.json"
_MOST: Final = 200_000  # files
_Placed = TypeVar("_Placed", Label, Edit)


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
            stamp = _stamp(file)
            if stamp is None:
                return None
            if entry[0] != stamp:
                if entry[0][1] != stamp[1] or entry[1] != digest(file.read_bytes()):
                    return None
                entry[0] = stamp
                self._changed = True
            if any(_stamp(other) != stamp for other, stamp in entry[4].items()):
                return None
            return Checked(tuple(map(_diagnostic, entry[2])), dict(entry[3]), tuple(entry[4]))
        except (OSError, LookupError, TypeError, ValueError, KeyError):
            return None

    def keep(self, file: Path, content: str, checked: Checked) -> None:
        """Remember what was found in a file whose content has this digest."""
        stamp = _stamp(file)
        if self._file is None or len(self._entries) >= _MOST or stamp is None:
            return
        rows = [asdict(each) for each in checked.diagnostics]
        needs = {other: _stamp(other) for other in checked.needs}
        self._entries[str(file)] = [stamp, content, rows, checked.sources, needs]
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
    files = [path for room in ("lint", "source", "diagnostics") for path in sorted((home / room).rglob("*.py"))]
    files += (home.joinpath(*backend.split(".")[1:], "api.py") for backend in FRAMEWORKS.values())
    return digest("".join(f"{path.name}{_stamp(path)}" for path in files).encode())


def _stamp(file: Path | str) -> list[int] | None:
    """When a file was changed and how large it is; None where it is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size]


def _diagnostic(row: dict[str, Any]) -> Diagnostic:
    """The diagnostic that `asdict` made a row of; not by `whygrad.graph.dataclass_json`, which takes long to import."""
    held = {
        "severity": Severity(row["severity"]),
        "primary": None if row["primary"] is None else _placed(Label, row["primary"]),
        "variables": tuple(row["variables"]),
        "related": tuple(_placed(Label, each) for each in row["related"]),
        "notes": tuple(row["notes"]),
        "steps": Steps(**row["steps"]),
        "fixes": tuple(map(_fix, row["fixes"])),
    }
    return Diagnostic(**{**row, **held})


def _fix(row: dict[str, Any]) -> Fix:
    edits = tuple(_placed(Edit, each) for each in row["edits"])
    return Fix(title=row["title"], edits=edits, safety=FixSafety(row["safety"]))


def _placed(kind: type[_Placed], row: dict[str, Any]) -> _Placed:
    return kind(SourceSpan(**row["span"]), row["text"])
