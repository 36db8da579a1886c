"""How much it costs to record 100,000 steps of 500 variables, and to read one of them back.

    python benchmarks/store.py [--steps N] [--variables N]

Writes the table to benchmarks/store.md. The rows are handed over as fast as the disk takes them, so that none is left
out; what counts is the processor time for each step, and that memory stays flat.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from record import Row, record
from whygrad.graph.series import CHANNELS, VariableInfo
from whygrad.store import Rows, Run, RunWriter, Track

STEP_SECONDS = 0.02  # what the cost is set against: a short step for a model of so many variables


def rows_like_training(track: Track, steps: int, seed: int) -> Rows:
    """Norms that wander and jitter, as those of gradients do; hardly any zeros, nothing that is not finite."""
    rng = np.random.default_rng(seed)
    variables = len(track.variables)
    walk = np.cumsum(rng.normal(0, 0.01, (steps, variables)), 0)
    norm = np.exp(walk + rng.normal(0, 0.3, (steps, variables)))
    values = np.empty((steps, variables, len(CHANNELS)), "float32")
    values[..., 0] = norm * rng.normal(0, 1, norm.shape)
    values[..., 1] = values[..., 8] = norm
    values[..., 2], values[..., 3] = -norm * 0.4, norm * 0.4
    values[..., 4] = values[..., 5] = 0
    values[..., 6] = 10 + walk
    values[..., 7] = norm * 1e-3
    scalars = np.stack([np.exp(-np.arange(steps) / steps), np.full(steps, 1e-3)], 1)
    return Rows(np.arange(steps), scalars, values)


def memory() -> float:
    """Megabytes that the process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def measure(folder: str, steps: int, variables: int) -> dict[str, float]:
    infos = tuple(VariableInfo(name=f"layer_{i}/kernel", shape=(512, 512)) for i in range(variables))
    track = Track(name="adam", variables=infos, scalars=("loss", "learning_rate"))
    writer = RunWriter.start(folder)
    number = writer.add_track(track)
    chunk = 50
    pool = [rows_like_training(track, chunk, seed) for seed in range(16)]
    held, handing, looks = [], 0.0, []
    stop = threading.Event()
    reader = threading.Thread(target=watch, args=(writer.path, stop, looks))
    reader.start()
    cpu, started = time.process_time(), time.perf_counter()
    for start in range(0, steps, chunk):
        part = pool[start // chunk % len(pool)]
        part = Rows(part.steps + start, part.scalars, part.values)
        before = time.perf_counter()
        for i in range(len(part)):
            writer.append(number, part.pick(slice(i, i + 1)))
        handing += time.perf_counter() - before
        if start // chunk % 8 == 7:
            writer.flush(60)
            held.append(memory())
    writer.flush(60)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - started
    stop.set()
    reader.join()
    writer.close()
    assert writer.path is not None
    assert writer.thinned == 0
    run = Run(writer.path)
    reads = [timed_read(run, f"layer_{i}/kernel", steps) for i in np.linspace(0, variables - 1, 15).astype(int)]
    return {
        "steps": steps,
        "variables": variables,
        "microseconds to hand over a step": handing / steps * 1e6,
        "processor microseconds a step, all threads": cpu / steps * 1e6,
        f"share of a {STEP_SECONDS * 1e3:.0f} ms step (%)": cpu / steps / STEP_SECONDS * 100,
        "seconds in all": wall,
        "megabytes held, first tenth of the run": max(held[: max(1, len(held) // 10)]),
        "megabytes held, last tenth": max(held[-max(1, len(held) // 10) :]),
        "file, megabytes": os.path.getsize(writer.path) / 1e6,
        "bytes for each number": os.path.getsize(writer.path) / (steps * variables * len(CHANNELS)),
        "milliseconds to read a variable's whole history, median": float(np.median(reads)) * 1e3,
        "the slowest of 15": max(reads) * 1e3,
        "reads while it was written": len(looks),
        "milliseconds for one of those (last step), median": float(np.median(looks)) * 1e3,
    }


def watch(path: Path, stop: threading.Event, looks: list[float]) -> None:
    """Read the newest step again and again while the run is written."""
    newest = -1
    while not stop.wait(0.2):
        before = time.perf_counter()
        last = Run(path).last_step()
        looks.append(time.perf_counter() - before)
        assert last is None or last >= newest
        newest = -1 if last is None else last


def timed_read(run: Run, name: str, steps: int) -> float:
    before = time.perf_counter()
    series = run.series(name)
    seconds = time.perf_counter() - before
    assert len(series.steps) == steps
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--variables", type=int, default=500)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".md"))
    options = parser.parse_args()
    if options.steps % 50:
        parser.error("--steps must be a multiple of 50")
    with tempfile.TemporaryDirectory() as folder:
        result = measure(folder, options.steps, options.variables)
    lines = ["# The run store", "", "Written by `benchmarks/store.py`.", "", "| what | measured |", "| --- | --- |"]
    lines += [
        f"| {name} | {value:,.4g} |" if value < 1e4 else f"| {name} | {value:,.0f} |" for name, value in result.items()
    ]
    text = "\n".join(lines) + "\n"
    options.output.write_text(text)
    print(text)
    if (options.steps, options.variables) == (100_000, 500):
        keep(result)


def keep(result: dict[str, float]) -> None:
    """The figures that have a budget."""
    cost = result[f"share of a {STEP_SECONDS * 1e3:.0f} ms step (%)"]
    growth = result["megabytes held, last tenth"] / result["megabytes held, first tenth of the run"]
    read = result["milliseconds to read a variable's whole history, median"]
    figures = (
        (f"processor time of a {STEP_SECONDS * 1e3:.0f} ms step", f"{cost:.2f}%", "1%", cost < 1),
        ("memory, end against beginning", f"{growth:.2f}x", "flat", growth < 1.1),
        ("one variable's history read", f"{read:.0f} ms", "100 ms", read < 100),
        ("bytes for each number", f"{result['bytes for each number']:.2f}", "–", None),
    )
    section = "recording 100,000 steps of 500 variables"
    record(Row(section=section, what=a, figure=b, budget=c, held=d) for a, b, c, d in figures)


if __name__ == "__main__":
    main()
