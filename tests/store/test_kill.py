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
from pathlib import Path

import pytest

from store.samples import rows, track
from whygrad.graph.series import CHANNELS
from whygrad.store import Run, list_runs

KILLS = 50
AT_ONCE = 5  # the writers sleep most of the time
TRACK = track(40)

# Tells on stdout, by number and clock, what it has recorded; blocks are small, so that kills hit their making too.
WRITER = """
    import os, struct, sys, time
    from store.samples import rows, track
    from whygrad.store import RunWriter, compaction

    compaction.rows_in_block = lambda track: 64
    TRACK = track(40)
    writer = RunWriter.start(sys.argv[1])
    number = writer.add_track(TRACK)
    step = 0
    while True:
        writer.append(number, rows(TRACK, range(step, step + 3)))
        step += 3
        os.write(1, struct.pack("<qd", step, time.monotonic()))
        time.sleep(0.004)
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def kill(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """(steps recorded more than a second before the kill, steps recorded at all)."""
    at = time.monotonic()
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    told = [struct.unpack_from("<qd", output, i) for i in range(0, len(output) - 15, 16)]
    return max((step for step, when in told if when < at - 1), default=0), max((step for step, _ in told), default=3)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_what_is_older_than_a_second_survives_kill_9(tmp_path: Path) -> None:
    generator = random.Random()
    promised, in_blocks = [], 0
    for batch in range(KILLS // AT_ONCE):
        folders = [tmp_path / f"{batch}-{i}" for i in range(AT_ONCE)]
        processes = [start(folder) for folder in folders]
        for process in processes:
            assert process.stdout is not None
            process.stdout.read(16)  # it has begun
        begun = time.monotonic()
        moments = sorted(generator.uniform(0, 3) for _ in processes)
        for folder, process, moment in zip(folders, processes, moments, strict=True):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            old, most = kill(process)
            promised.append(old)
            in_blocks += check(folder, old, most)

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
        for c, channel in enumerate(CHANNELS):
            assert series.channels[channel].tobytes() == rows(TRACK, range(count)).values[:, v, c].tobytes()
    assert run.damage == []
    return count if run.tracks() and count > 64 else 0
