"""Processes of one cluster on loopback: started together, ended by their ids within a time limit, none left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"


@dataclass(frozen=True, slots=True)
class Ended:
    """What one process of a cluster left."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """Its last line, as JSON."""
        return json.loads(self.out.splitlines()[-1])


def free_addresses(count: int) -> list[str]:
    """Addresses that nobody listens to; all are held until the last is found, so that none comes twice."""
    with ExitStack() as held:
        found = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in found]


class Cluster:
    """Tasks of some kinds, each a process of the same script; a context that ends those that are still there."""

    def __init__(self, folder: Path, kinds: dict[str, int]) -> None:
        self.folder = folder
        self._addresses = {kind: free_addresses(count) for kind, count in kinds.items()}
        self._running: dict[tuple[str, int], subprocess.Popen[str]] = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *failure: object) -> None:
        for process in self._running.values():
            process.kill()
            process.communicate()

    def start(self, kind: str, index: int, *words: str) -> None:
        """Start, or start again, one task: `python WORDS`."""
        config = {"cluster": self._addresses, "task": {"type": kind, "index": index}}
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps(config),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
            "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]),
            "GRPC_VERBOSITY": "ERROR",
        }
        self._running[kind, index] = subprocess.Popen(
            [sys.executable, *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def await_line(self, kind: str, index: int, beginning: str, limit: float) -> None:
        """Read what a task prints until a line begins so."""
        process = self._running[kind, index]
        overdue = threading.Timer(limit, process.kill)
        overdue.start()
        try:
            assert process.stdout is not None
            assert any(line.startswith(beginning) for line in process.stdout), (
                f"{kind} {index} never said {beginning!r}"
            )
        finally:
            overdue.cancel()

    def wait(self, kind: str, index: int, limit: float) -> Ended:
        process = self._running[kind, index]
        out, err = process.communicate(timeout=limit)
        return Ended(process.returncode, out, err)

    def end(self, kind: str, index: int) -> None:
        """Kill one task as a machine that goes away would."""
        process = self._running[kind, index]
        process.send_signal(signal.SIGKILL)
        process.communicate()


def run_all(folder: Path, kinds: dict[str, int], words: Sequence[str], limit: float = 120.0) -> list[Ended]:
    """The same program as every task of a cluster; what each left, in the order of kinds and indices."""
    deadline = time.monotonic() + limit
    with Cluster(folder, kinds) as cluster:
        tasks = [(kind, index) for kind, count in kinds.items() for index in range(count)]
        for kind, index in tasks:
            cluster.start(kind, index, *words)
        return [cluster.wait(kind, index, max(1.0, deadline - time.monotonic())) for kind, index in tasks]
