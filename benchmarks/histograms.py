"""What histograms at one step in 100 add to recording every step.

    python benchmarks/histograms.py [--rounds 12] [--models MLP,CNN,transformer] [--jit]

Three trainings of one model take turns in one process, 100 steps at a time: two under `Monitor`, of which one is the
null, and one under `Monitor(histograms=True)`. The figure is the median of the paired ratios; beside it how long the
step with histograms takes, alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from monitor import digest, endless, spread
from networks import make
from record import record

EVERY = 100


def trainers(name: str, jit: bool, folder: str) -> list[tuple[Any, Any, Any]]:
    """(model, batches, monitor): two without histograms, one with."""
    from whygrad.training.monitor.monitor import Monitor

    made = []
    for histograms in (False, False, True):
        model, batch = make(name, jit=jit)
        monitor = Monitor(folder=folder, histograms=histograms)
        iterator = endless(batch)
        model.make_train_function()
        model.history = object()
        monitor.set_model(model)
        monitor.on_train_begin()
        made.append((model, iterator, monitor))
    return made


def stretch(model: Any, iterator: Any, steps: int) -> list[float]:
    """How long each of some steps took."""
    times = []
    for _ in range(steps):
        started = time.perf_counter()
        model.train_function(iterator)
        times.append(time.perf_counter() - started)
    return times


def measure(name: str, jit: bool, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        made = trainers(name, jit, folder)
        for model, iterator, _ in made:
            stretch(model, iterator, EVERY)
        totals: list[list[float]] = [[], [], []]
        single, steps = [], []
        for turn in range(rounds):
            for which in (0, 1, 2) if turn % 2 else (2, 1, 0):
                model, iterator, _ = made[which]
                times = stretch(model, iterator, EVERY)
                totals[which].append(sum(times))
                if which == 2:
                    single.append(times[0])
                    steps.append(statistics.median(times[1:]))
        for _, _, monitor in made:
            monitor.on_train_end()
        run = made[2][2].run
        taken = len(run.histograms(run.variables()[0][1].name).steps)
    assert taken == rounds + 1
    plain, null, counted = totals
    return {
        "milliseconds": statistics.median(steps) * 1e3,
        "with": statistics.median(single) * 1e3,
        "ratio": [c / p for c, p in zip(counted, plain, strict=True)],
        "null": [n / p for n, p in zip(null, plain, strict=True)],
        "equal": len({digest(model) for model, _, _ in made}) == 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--models", default="MLP,CNN,transformer")
    parser.add_argument("--jit", action="store_true", help="compile the steps by XLA")
    parser.add_argument("--keep", action="store_true", help="write the figures to results.json")
    options = parser.parse_args()
    for name in options.models.split(","):
        found = measure(name, options.jit, options.rounds)
        extra = (found["with"] - found["milliseconds"]) / EVERY / found["milliseconds"]
        figure = (
            f"{spread(found['ratio'])}, null {spread(found['null'])}; the step that takes them"
            f" {found['with']:.1f} ms, the others {found['milliseconds']:.1f} ms: {extra:.2%}"
        )
        print(f"{name}{' under XLA' if options.jit else ''}: {figure}; weights bit-equal: {found['equal']}")
        if options.keep:
            what = f"`Monitor(histograms=True)` against `Monitor()`, {name}{' under XLA' if options.jit else ''}"
            record(what, figure, "<= 1.01", "python benchmarks/histograms.py --keep")


if __name__ == "__main__":
    main()
