"""What histograms at one step in 100 add to recording every step.

    python benchmarks/histograms.py [--pairs 400] [--models MLP,CNN,transformer] [--jit] [--keep]

Three trainings of one model take turns in one process, step by step: two under `Monitor`, of which one is the null, and
one under `Monitor(histograms=10)`. Nine steps in ten take no histograms: the median of their paired ratios is what it
costs to be able to. What the tenth costs more than its pair counts with a hundredth, as it would with `True`.
`--processor` takes the processor time of all threads instead of the time that passes, for a machine with other work.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from networks import endless, make
from record import Row, record
from side_by_side import digest, spread

BUDGET = 1.01  # of a step without them
EVERY, TAKEN = 100, 10  # what is asked about, and how often they are taken to find out
WARM = 5


def trainers(name: str, jit: bool, folder: str) -> list[tuple[Any, Any, Any]]:
    """(model, batches, monitor): two without histograms, one with."""
    from whygrad.training.monitor.monitor import Monitor

    made = []
    for histograms in (False, False, TAKEN):
        model, batch = make(name, jit=jit)
        monitor = Monitor(folder=folder, histograms=histograms)
        iterator = endless(batch)
        model.make_train_function()
        model.history = object()
        monitor.set_model(model)
        monitor.on_train_begin()
        made.append((model, iterator, monitor))
    return made


def measure(name: str, jit: bool, pairs: int, clock: Callable[[], float]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        made = trainers(name, jit, folder)
        for model, iterator, _ in made:
            for _ in range(WARM):
                model.train_function(iterator)
        times: list[list[float]] = [[], [], []]
        for turn in range(pairs):
            for which in (0, 1, 2) if turn % 2 else (2, 1, 0):
                model, iterator, _ = made[which]
                started = clock()
                model.train_function(iterator)
                times[which].append(clock() - started)
        for _, _, monitor in made:
            monitor.on_train_end()
        run = made[2][2].run
        assert len(run.histograms(run.variables()[0][1].name).steps) == -(-(pairs + WARM) // TAKEN)
    plain, null, counted = times
    taking = [(turn + WARM) % TAKEN == 0 for turn in range(pairs)]
    step = statistics.median(plain)
    extra = statistics.median(c - p for c, p, takes in zip(counted, plain, taking, strict=True) if takes)
    ratios = [c / p for c, p, takes in zip(counted, plain, taking, strict=True) if not takes]
    return {
        "milliseconds": step * 1e3,
        "extra": extra * 1e3,
        "ratio": ratios,
        "total": statistics.median(ratios) + extra / EVERY / step,
        "null": [n / p for n, p in zip(null, plain, strict=True)],
        "equal": len({digest(model.variables) for model, _, _ in made}) == 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--models", default="MLP,CNN,transformer")
    parser.add_argument("--jit", action="store_true", help="compile the steps by XLA")
    parser.add_argument("--keep", action="store_true", help="write the figures to results.json")
    parser.add_argument("--processor", action="store_true", help="take processor time")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    for name in options.models.split(","):
        found = measure(name, options.jit, options.pairs, clock)
        null, seconds = spread(found["null"]), found["milliseconds"]
        figure = (
            f"{found['total']:.4f}; steps without them {spread(found['ratio'])}, taking them {found['extra']:.1f} ms"
        )
        print(f"{name}: {figure}, null {null}; weights bit-equal: {found['equal']}")
        if options.keep:
            where = f"{name}{' under XLA' if options.jit else ''}, {seconds:.1f} ms"
            held = found["total"] / statistics.median(found["null"]) <= BUDGET
            what = "`Monitor(histograms=True)` against `Monitor()`"
            kept = {"figure": figure, "null": null, "budget": f"{BUDGET}", "held": held, "equal": found["equal"]}
            record([Row(section="histograms at one step in 100", what=what, where=where, **kept)])


if __name__ == "__main__":
    main()
