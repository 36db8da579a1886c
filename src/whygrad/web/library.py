"""The runs of some folders, found by id only: no address leads to any other file."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from whygrad.errors import UsageError
from whygrad.graph import Recording
from whygrad.graph.codec import load
from whygrad.report.page.why import Ways
from whygrad.store import Run, RunNotFoundError
from whygrad.store.run_file import SUFFIX

T = TypeVar("T")


class Library:
    """Answers are kept as long as the file of a run does not change."""

    def __init__(
        self, folders: Sequence[str | os.PathLike[str]] | Callable[[], Sequence[Path]], *, changeable: bool = True
    ) -> None:
        self._folders = folders
        self.changeable = changeable
        self._kept: dict[tuple[str, str], tuple[object, Any]] = {}

    def runs(self) -> list[Run]:
        return [Run(path) for folder in self.places for path in sorted(folder.glob(f"*{SUFFIX}")) if path.is_file()]

    @property
    def places(self) -> list[Path]:
        return [Path(folder) for folder in (self._folders() if callable(self._folders) else self._folders)]

    def run(self, run_id: str) -> Run:
        found = next((run for run in self.runs() if run.id == run_id), None)
        if found is None:
            raise RunNotFoundError(f"no run is called `{run_id}`", help="it may have been deleted")
        return found

    def stamp(self, path: str) -> object | None:
        """What changes when an answer does that follows from the file of a run alone; None: it follows from more."""
        match path.split("/"):
            case ["runs", run_id, _, *_]:
                found = next((run for run in self.runs() if run.id == run_id), None)
                return None if found is None else _stamp(found.path)
        return None

    def kept(self, run: Run, what: str, find: Callable[[], T]) -> T:
        """What was found out about a run, unless its file has changed since."""
        stamp = _stamp(run.path)
        known = self._kept.get((run.id, what))
        if known is None or known[0] != stamp:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            known = self._kept[run.id, what] = (stamp, find())
        found: T = known[1]
        return found

    def recording(self, run: Run) -> Recording | None:
        return self.kept(run, "recording", functools.partial(recording_of, run))

    def ways(self, run: Run) -> Ways | None:
        def find() -> Ways | None:
            recording = self.recording(run)
            return None if recording is None else Ways(recording, losses_of(run))

        return self.kept(run, "ways", find)


_MOST_KEPT = 512  # answers


def _stamp(path: Path) -> object:
    found = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            facts = each.stat()
            found.append((facts.st_mtime_ns, facts.st_size))
        except OSError:
            found.append((0, 0))
    return tuple(found)


def recording_of(run: Run) -> Recording | None:
    """What was recorded of the program that made a run; None where nobody watched, or by a newer whygrad."""
    text = run.document("recording")
    try:
        return None if text is None else load(text, Recording)
    except UsageError as error:
        run.damage.append(error.message)
        return None


def report_of(run: Run) -> dict[str, Any]:
    """The JSON of the report; empty where there is none."""
    text = run.document("report")
    found = {} if text is None else json.loads(text)
    return found if isinstance(found, dict) else {}


def losses_of(run: Run) -> list[str]:
    return [str(reach.get("loss", "loss")) for reach in report_of(run).get("gradients", [])]
