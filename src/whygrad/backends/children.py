"""Child processes of `multiprocessing`: each runs under a capture of its own and leaves its recording to its parent."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from whygrad.errors import UsageError
from whygrad.graph import Recording
from whygrad.graph.codec import dump, load

RunChild = Callable[[Any, str], None]  # runs a process and leaves its recording in a folder; found by its name


class Children:
    """The processes that a program starts while it is watched."""

    def __init__(self, run_child: RunChild) -> None:
        self._run_child = run_child
        self._process = os.getpid()
        self._base: Any = None
        self._folder = ""
        self.started = 0

    def join(self, module: ModuleType) -> None:
        """Hook the starting of processes, unless a capture around this one has."""
        base: Any = module.BaseProcess
        original = base.start
        if hasattr(original, "__wrapped__"):
            return
        self._base = base

        @functools.wraps(original)
        def start(process: Any) -> None:
            if os.getpid() == self._process and not _is_servant(process):
                self._folder = self._folder or tempfile.mkdtemp(prefix="whygrad-")
                self.started += 1
                vars(process)["run"] = functools.partial(self._run_child, process, self._folder)
            try:
                original(process)
            finally:
                vars(process).pop("run", None)  # the child has it by now

        base.start = start

    def stop(self) -> None:
        if self._base is not None:
            self._base.start = self._base.start.__wrapped__
            self._base = None

    def take(self) -> tuple[Recording, ...]:
        """The recordings that children have left; those of children that were killed are missing."""
        found = tuple(_recordings(self._folder)) if self._folder and os.getpid() == self._process else ()
        shutil.rmtree(self._folder, ignore_errors=True)
        return found


def leave(recording: Recording, folder: str) -> None:
    """Leave the recording of this process for its parent, whole or not at all."""
    path = Path(folder, f"{os.getpid()}.json")
    part = path.with_suffix(".part")
    part.write_text(dump(recording), encoding="utf-8")
    part.rename(path)


def _recordings(folder: str) -> Iterator[Recording]:
    for path in sorted(Path(folder).glob("*.json")):
        try:
            yield load(path.read_text(encoding="utf-8"), Recording)
        except (UsageError, OSError):
            pass


def _is_servant(process: Any) -> bool:
    """A process that only keeps values for others; managers name theirs by their class."""
    return "Manager-" in process.name
