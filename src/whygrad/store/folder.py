"""The runs of a folder, and which of them a name stands for."""

from __future__ import annotations

import difflib
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from whygrad.notice import warn
from whygrad.run_folder import run_folder
from whygrad.store.reader import Run
from whygrad.store.run_file import SUFFIX, RunNotFoundError, RunUnreadableError

LATEST: Final = "latest"
_QUIET_SECONDS: Final = 60.0  # a writer on another machine that has been silent for longer is taken for dead


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """A run in a list."""

    id: str
    path: Path
    name: str = ""
    status: str = ""  # running, finished, failed, interrupted, killed, unreadable
    started: float = 0.0
    seconds: float = 0.0
    last_step: int | None = None
    thinned: int = 0
    problem: str | None = None  # why it cannot be read
    worker: str = ""  # which process of a cluster recorded it

    @property
    def title(self) -> str:
        """Its name, and which worker it is of."""
        return f"{self.name} ({self.worker})" if self.name and self.worker else self.name or self.worker


def list_runs(folder: str | os.PathLike[str] | None = None) -> list[RunHeader]:
    """All runs, newest first; one that cannot be read is there too, with the reason."""
    paths = sorted(run_folder(folder).glob(f"*{SUFFIX}")) if run_folder(folder).is_dir() else []
    return sorted((header_of(Run(path)) for path in paths), key=lambda run: (-run.started, run.id))


def header_of(run: Run) -> RunHeader:
    try:
        facts = run.facts()
        started = float(facts.get("started", 0.0))
        return RunHeader(
            id=run.id,
            path=run.path,
            name=str(facts.get("name", "")),
            status=_status(facts),
            started=started,
            seconds=max(0.0, float(facts.get("ended") or facts.get("seen", started)) - started),
            last_step=run.last_step(),
            thinned=int(facts.get("thinned", 0)),
            worker=facts.get("worker", {}).get("name", ""),
        )
    except RunUnreadableError as error:
        return RunHeader(
            id=run.id, path=run.path, status="unreadable", started=_changed(run.path), problem=error.message
        )


def find_run(text: str, folder: str | os.PathLike[str] | None = None) -> Run:
    """The run that an id, the beginning of one, `latest` or the path of a file stands for."""
    if text.endswith(SUFFIX) or os.sep in text:
        path = Path(text)
        if not path.is_file():
            raise RunNotFoundError(f"there is no run file `{text}`")
        return Run(path)
    runs = list_runs(folder)
    if not runs:
        raise RunNotFoundError(
            f"there are no runs in `{run_folder(folder)}`",
            help="record one with `model.fit(..., callbacks=[whygrad.Monitor()])`, or name a folder with --dir",
        )
    if text == LATEST:
        return Run(_newest(runs).path)
    return Run(_match(text, runs).path)


def _newest(runs: list[RunHeader]) -> RunHeader:
    """The newest one that can be read; that a newer one cannot is said."""
    found = next((run for run in runs if run.problem is None), runs[0])
    if found is not runs[0]:
        warn(f"{runs[0].problem}; `{LATEST}` is the newest run that can be read, `{found.id}`")
    return found


def workers_of(run: Run) -> list[Run]:
    """The runs of all workers that trained together with this one, itself among them; none where it trained alone.

    They know nothing of one another's files: they are those beside it of the same cluster, one for each worker, that
    began nearest to it in time.
    """
    facts = run.facts()
    own = facts.get("worker")
    if own is None:
        return []
    nearest: dict[int, tuple[float, Run]] = {own["index"]: (-1.0, run)}
    for path in sorted(run.path.parent.glob(f"*{SUFFIX}")):
        other = Run(path)
        try:
            theirs = other.facts()
        except RunUnreadableError:
            continue
        worker = theirs.get("worker")
        if worker is None or worker["cluster"] != own["cluster"]:
            continue
        apart = abs(float(theirs.get("started", 0.0)) - float(facts.get("started", 0.0)))
        if apart < nearest.get(worker["index"], (float("inf"), other))[0]:
            nearest[worker["index"]] = (apart, other)
    return [nearest[index][1] for index in sorted(nearest)]


def _match(text: str, runs: list[RunHeader]) -> RunHeader:
    exact = [run for run in runs if run.id == text]
    found = exact or [run for run in runs if run.id.startswith(text)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"`{run.id}`" for run in found[:5]) + (", ..." if len(found) > 5 else "")
        raise RunNotFoundError(
            f"`{text}` fits {len(found)} runs: {names}", help="write more letters of the one you mean"
        )
    close = difflib.get_close_matches(text, [run.id for run in runs], 1)
    hint = f"did you mean `{close[0]}`? " if close else ""
    raise RunNotFoundError(f"no run is called `{text}`", help=f"{hint}`whygrad runs` lists them")


def _status(facts: dict[str, Any]) -> str:
    """What became of a run that never said: its process is gone, or it is still at work."""
    status = str(facts.get("status", ""))
    if status != "running":
        return status
    place = facts.get("environment", {})
    if place.get("host") != platform.node():
        return "running" if time.time() - float(facts.get("seen", 0.0)) < _QUIET_SECONDS else "killed"
    return "running" if _is_alive(int(place.get("pid", 0))) else "killed"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid > 0


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
