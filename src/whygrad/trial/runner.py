"""Runs of the user's program in processes of their own, within limits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from whygrad.errors import UsageError
from whygrad.trial.order import Order, dump_order
from whygrad.trial.sighting import Ending, Sighting, load

CHILD: Final = "whygrad.cli.fixing.child"
_LAST_WORDS: Final = 20.0  # seconds that a run may take to say what it has seen after it was told to end
_LOOK: Final = 0.05  # seconds between two looks at it
_TAIL: Final = 2000  # characters of what a process printed last, in which its trouble is looked for


@dataclass(frozen=True, slots=True)
class Runner:
    """How runs are made: each is stopped after `seconds`; `tick` is called now and then with its age."""

    seconds: float
    tick: Callable[[float], None] = lambda age: None
    folder: str | None = None  # that they run in; None: this one

    def run(self, order: Order) -> Sighting:
        """What one run showed; a `UsageError` where it could not be started, or not be watched."""
        with tempfile.TemporaryDirectory(prefix="whygrad-fix-") as folder:
            given, result, said = Path(folder, "order.json"), Path(folder, "result.json"), Path(folder, "said")
            given.write_text(dump_order(self._there(order)), encoding="utf-8")
            with said.open("wb") as output:
                late = self._wait(_start(given, result, output.fileno(), self.folder))
            if result.exists():
                return load(self._here(result.read_text(encoding="utf-8")))
            if late:
                return Sighting(ending=Ending(status=1, late=True), watched=False)
            raise UsageError(f"the program could not be watched: {_last_line(said)}")

    def _there(self, order: Order) -> Order:
        """An order for the folder that runs are made in, whose files are copies of those in this one."""
        if self.folder is None:
            return order
        here, there = os.getcwd() + os.sep, self.folder + os.sep
        overlay = {file.replace(here, there, 1): text for file, text in order.overlay.items()}
        script = there + order.script.removeprefix(here) if order.script.startswith(here) else order.script
        return replace(order, overlay=overlay, script=script)

    def _here(self, told: str) -> str:
        """What a run tells, with the names of the files in this folder."""
        if self.folder is None:
            return told
        return told.replace(json.dumps(self.folder + os.sep)[1:-1], json.dumps(os.getcwd() + os.sep)[1:-1])

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether it took too long."""
        began = time.monotonic()
        try:
            while process.poll() is None:
                age = time.monotonic() - began
                self.tick(age)
                if age > self.seconds:
                    process.terminate()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_LAST_WORDS)
                    return True
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
        finally:
            _end(process)
        return False


def _start(given: Path, result: Path, output: int, folder: str | None) -> subprocess.Popen[bytes]:
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    command = [sys.executable, *flags, "-m", CHILD, str(given), str(result)]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # no cache of bytecode beside the user's files
        cwd=folder,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and those that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(said: Path) -> str:
    lines = said.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip().splitlines()
    return lines[-1] if lines else "it said nothing"
