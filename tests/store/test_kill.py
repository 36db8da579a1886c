"""A writer that is killed at any moment leaves everything that is older than a second."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from store.samples import rows, track
from whygrad.graph.series import CHANNELS
from whygrad.store import Run, list_runs

KILLS = 50
AT_ONCE = 8  # the writers sleep most of the time
LONGEST = 3.0  # seconds until a writer is killed
TRACK = track(40)

# Imports once and forks a writer for each folder that it reads. A writer keeps next to its folder, by number and clock,
# what it has recorded; blocks are small, so that kills hit their making too.
WRITERS = """
    import os, signal, struct, sys, time
    from store.samples import rows, track
    from whygrad.store import RunWriter, compaction

    compaction.rows_in_block = lambda track: 64
    TRACK = track(40)

    def write(folder):
        told = os.open(folder + ".told", os.O_CREAT | os.O_WRONLY)
        writer = RunWriter.start(folder)
        number = writer.add_track(TRACK)
        step = 0
        while True:
            writer.append(number, rows(TRACK, range(step, step + 3)))
            step += 3
            os.write(told, struct.pack("<qd", step, time.monotonic()))
            time.sleep(0.004)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a killed writer is gone at once, not a zombie
    for line in sys.stdin:
        if child := os.fork():
            print(child, flush=True)
        else:
            write(line.rstrip())
"""


@dataclass(frozen=True)
class Writer:
    folder: Path
    process: int
    doomed: float  # when it is killed, on the monotonic clock

    def kill(self) -> tuple[int, int]:
        """(steps recorded more than a second before the kill, steps recorded at all)."""
        time.sleep(max(0.0, self.doomed - time.monotonic()))
        at = time.monotonic()
        os.kill(self.process, signal.SIGKILL)
        while Path(f"/proc/{self.process}").exists():
            time.sleep(0.001)
        output = told(self.folder).read_bytes()
        steps = [struct.unpack_from("<qd", output, i) for i in range(0, len(output) - 15, 16)]
        old = max((step for step, when in steps if when < at - 1), default=0)
        return old, max((step for step, _ in steps), default=3)


def told(folder: Path) -> Path:
    return folder.with_name(folder.name + ".told")


@pytest.fixture
def start() -> Iterator[Callable[[Path], Writer]]:
    """Starts a writer that will be killed at a moment by chance after its first rows."""
    generator = random.Random()
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITERS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    into, out = server.stdin, server.stdout

    def once(folder: Path) -> Writer:
        print(folder, file=into, flush=True)
        process = int(out.readline())
        while not (told(folder).exists() and told(folder).stat().st_size):
            time.sleep(0.001)
        return Writer(folder, process, time.monotonic() + generator.uniform(0, LONGEST))

    yield once
    server.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no SIGKILL, or no /proc")
def test_what_is_older_than_a_second_survives_kill_9(start: Callable[[Path], Writer], tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(KILLS)]
    running = [start(folder) for folder in folders[:AT_ONCE]]
    waiting = folders[AT_ONCE:]
    promised, in_blocks = [], 0
    while running:
        first = min(running, key=lambda writer: writer.doomed)
        running.remove(first)
        old, most = first.kill()
        if waiting:
            running.append(start(waiting.pop()))
        promised.append(old)
        in_blocks += check(first.folder, old, most)

    assert len(promised) == KILLS
    assert sum(old > 0 for old in promised) > KILLS / 3  # the test means something
    assert in_blocks > 0


def check(folder: Path, old: int, most: int) -> int:
    """The run is sound and holds the first steps, at least the old ones; how many of them are in blocks."""
    headers = list_runs(folder)
    if not headers:
        assert old == 0
        return 0
    (header,) = headers
    run = Run(header.path)
    if header.status == "unreadable":  # killed while the file was made
        assert old == 0
        return 0
    assert header.status == "killed"
    assert run.check() == []
    for v, info in enumerate(TRACK.variables[:2] if run.tracks() else ()):
        series = run.series(info.name)
        count = len(series.steps)
        assert series.steps.tolist() == list(range(count))
        assert old <= count <= most + 3
        expected = rows(TRACK, range(count)).values
        for c, channel in enumerate(CHANNELS):
            assert series.channels[channel].tobytes() == expected[:, v, c].tobytes()
    assert run.damage == []
    return count if run.tracks() and count > 64 else 0
