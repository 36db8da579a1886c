"""How long a run of 1,000 variables x 100,000 steps takes to be seen, and what the server holds then.

    python benchmarks/first_view.py [--variables 1000] [--steps 100000] [--keep]

Builds such a run, starts `whygrad ui` in a process of its own, and asks for what the page asks for, each view in a new
process: the list of runs, the run, one variable. Memory is the peak of the server, from /proc.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np

from record import Row, record
from store import rows_like_training
from whygrad.graph.histogram import KINDS, WIDTH
from whygrad.graph.series import VariableInfo
from whygrad.store import Rows, RunWriter, Track, block, digest, histograms, run_file
from whygrad.store.compaction import encode_steps, rows_in_block
from whygrad.store.migrations import transaction

SEEDS = 4  # stretches that are different; the others are these again


def build(folder: Path, variables: int, steps: int) -> tuple[str, str]:
    """(id of the run, name of a variable): what a writer would leave, without compressing the same again and again."""
    infos = tuple(VariableInfo(name=f"block_{i // 8}/layer_{i}/kernel", shape=(256, 256)) for i in range(variables))
    scalars = ("loss", "learning_rate")
    track = Track(name="adam", variables=infos, scalars=scalars)
    writer = RunWriter.start(folder, name="large")
    writer.add_track(track)
    writer.close()
    assert writer.path is not None
    length = rows_in_block(track)
    pool = [encoded(rows_like_training(track, length, seed)) for seed in range(SEEDS)]
    spread = histograms.encode(np.ones((variables, len(KINDS), WIDTH), "float32"))
    database = run_file.open_to_write(writer.path)
    for start in range(0, steps, length):
        count = min(length, steps - start)
        with transaction(database):
            known, series, few = (
                pool[start // length % SEEDS] if count == length else encoded(rows_like_training(track, count, 99))
            )
            made = database.execute(
                "INSERT INTO block (track, first, last, count, steps, scalars) VALUES (1, ?, ?, ?, ?, ?)",
                (start, start + count - 1, count, encode_steps(np.arange(start, start + count)), known),
            )
            database.execute("INSERT INTO digest VALUES (?, ?)", (made.lastrowid, few))
            database.executemany(
                "INSERT INTO series VALUES (?, ?, ?)", [(made.lastrowid, i, data) for i, data in enumerate(series)]
            )
            if start // length % 4 == 0:
                database.execute("INSERT INTO histogram VALUES (1, ?, ?)", (start, spread))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    return writer.id, infos[variables // 2].name


def encoded(rows: Rows) -> tuple[bytes, list[bytes], bytes]:
    return block.encode(rows.scalars), list(block.encode_many(rows.values)), digest.encode(rows.values)


def processor_seconds(pid: int) -> float:
    """What a process has used so far, all threads together: a figure that other work on the machine hardly changes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """`whygrad ui` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "whygrad", "ui", str(folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().split()[1]

    def get(self, path: str, **query: str) -> object:
        address = f"{self.link}api/{path}" + (f"?{urlencode(query)}" if query else "")
        with urlopen(Request(address, headers={"Accept-Encoding": "gzip"}), timeout=60) as response:
            data = response.read()
            return json.loads(gzip.decompress(data) if response.headers["Content-Encoding"] == "gzip" else data)

    def memory(self, what: str) -> float:
        """Megabytes; VmHWM is the most it ever held."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024

    def processor(self) -> float:
        return processor_seconds(self.process.pid)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def views(run: str, variable: str) -> dict[str, list[list[tuple[str, dict[str, str]]]]]:
    """What the page asks for, view by view: one group after the other, each group at once."""
    name = {"name": variable, "track": "adam"}
    return {
        "list of runs": [[("runs", {})]],
        "run": [
            [(f"runs/{run}", {})],
            [(f"runs/{run}/scalars", {"track": "adam"}), (f"runs/{run}/heat", {"track": "adam"})],
        ],
        "variable": [[(f"runs/{run}/variable", name)], [(f"runs/{run}/histograms", name)]],
    }


def measure(folder: Path, groups: list[list[tuple[str, dict[str, str]]]]) -> tuple[float, ...]:
    """(first view, processor time for it, the same again, peak memory, memory before) of a server just started."""
    server = Server(folder)
    try:
        before, seconds, used = server.memory("VmHWM"), [], []
        for _ in range(2):
            started, spent = time.perf_counter(), server.processor()
            with ThreadPoolExecutor(4) as pool:
                for group in groups:
                    list(pool.map(lambda asked: server.get(asked[0], **asked[1]), group))
            seconds.append(time.perf_counter() - started)
            used.append(server.processor() - spent)
        return seconds[0], used[0], seconds[1], server.memory("VmHWM"), before
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where such a run was built before, or is to be kept")
    parser.add_argument("--keep", action="store_true", help="write the figures to results.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        folder = options.folder or Path(spare)
        known = sorted(folder.glob("*.sqlite"))
        if known:
            run, variable = known[0].stem, f"block_{options.variables // 16}/layer_{options.variables // 2}/kernel"
        else:
            run, variable = build(folder, options.variables, options.steps)
        size = (folder / f"{run}.sqlite").stat().st_size / 1e6
        print(f"{options.variables} variables x {options.steps} steps: {size:.0f} MB")
        for view, groups in views(run, variable).items():
            found = [measure(folder, groups) for _ in range(options.repeats)]
            first, used, again, peak, before = (statistics.median(column) for column in zip(*found, strict=True))
            figure = (
                f"{first:.2f} s ({used:.2f} s of processor), again {again:.2f} s;"
                f" server at most {peak:.0f} MB, {before:.0f} before"
            )
            print(f"  {view}: {figure}")
            if options.keep:
                where = f"{options.variables:_} variables x {options.steps:_} steps"
                held = first < 1.0 and peak < 100.0
                row = Row(
                    section="`whygrad ui`", what=view, where=where, figure=figure, budget="1 s, 100 MB", held=held
                )
                record([row])


if __name__ == "__main__":
    main()
