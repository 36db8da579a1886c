"""What is paid once: the first step, which traces, a second `fit`, and the start of a script that trains nothing.

    python benchmarks/first_steps.py [--rounds 9]

In turns, as in side_by_side.py; every first step is that of a new model.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from contestants import Contestant, Watching, fitted, guarded, looped, monitored
from networks import make
from record import Row, record
from side_by_side import spread

Ratios = dict[str, list[float]]


def in_turns(makers: dict[str, Callable[[], float]], rounds: int) -> tuple[Ratios, float]:
    """Each to the first of them in the same round, and how long the first takes; the first round is thrown away."""
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    order = list(makers)
    for _ in range(rounds + 1):
        for name in order:
            seconds[name].append(makers[name]())
        order = order[1:] + order[:1]
    first, *others = seconds
    bare = seconds[first][1:]
    found = {name: [a / b for a, b in zip(seconds[name][1:], bare, strict=True)] for name in others}
    return found, statistics.median(bare)


def rows_of(section: str, where: str, found: Ratios, budget: float) -> list[Row]:
    null = found.pop("bare again")
    level = statistics.median(null)
    return [
        Row(
            section=section,
            what=name,
            where=where,
            figure=spread(ratios),
            null=spread(null),
            budget=f"{budget}",
            held=statistics.median(ratios) / level <= budget,
        )
        for name, ratios in found.items()
    ]


def first_call(made: Callable[[], Contestant], around: Callable[[], Any] = contextlib.nullcontext) -> float:
    """Seconds of the first step of a new model, with its tracing."""
    contestant = made()
    with around():
        start = time.perf_counter()
        contestant.step()
        seconds = time.perf_counter() - start
    contestant.end()
    return seconds


def first_steps(name: str, rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        makers = {
            "bare": lambda: first_call(lambda: fitted(name, False)),
            "bare again": lambda: first_call(lambda: fitted(name, False)),
            "`whygrad run`": lambda: first_call(lambda: fitted(name, False), Watching().around),
            "`Monitor`, every step": lambda: first_call(lambda: monitored(name, False, folder)),
            "`wg.guard`": lambda: first_call(lambda: guarded(name, False)),
        }
        found, length = in_turns(makers, rounds)
    return rows_of("the first step of `fit`, which traces", f"{name}, {length:.2g} s", found, 1.5)


def first_steps_of_loops(name: str, rounds: int) -> list[Row]:
    def made() -> Contestant:
        return looped(name, compiled=True)

    makers = {
        "bare": lambda: first_call(made),
        "bare again": lambda: first_call(made),
        "`whygrad run`": lambda: first_call(made, Watching().around),
    }
    found, length = in_turns(makers, rounds)
    return rows_of("the first step of a loop under `tf.function`, which traces", f"{name}, {length:.2g} s", found, 1.5)


def second_fit(name: str, rounds: int) -> list[Row]:
    """A short `fit` of a model that was fitted before."""
    import whygrad as wg

    with tempfile.TemporaryDirectory() as folder:

        def fitting(callbacks: Callable[[], list[Any]], wrap: Callable[[Any], Any] | None = None) -> Any:
            model, batch = make(name, jit=False)
            if wrap is not None:
                model.optimizer = wrap(model.optimizer)
            x, y = (each.repeat(20, axis=0) for each in batch)

            def fit() -> float:
                mine = callbacks()
                start = time.perf_counter()
                model.fit(x, y, batch_size=len(batch[0]), shuffle=False, verbose=0, callbacks=mine)
                return time.perf_counter() - start

            fit()
            return fit

        makers = {
            "bare": fitting(list),
            "bare again": fitting(list),
            "`Monitor`, every step": fitting(lambda: [wg.Monitor(folder=folder)]),
            "`wg.guard`": fitting(list, wg.guard),
        }
        found, length = in_turns(makers, rounds)
    return rows_of("a second `fit` of 20 batches", f"{name}, {length:.2g} s", found, 1.05)


def start(rounds: int) -> list[Row]:
    """A script that never imports a framework."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "plain.py"
        script.write_text("print(sum(range(10)))\n")

        def seconds(*words: str) -> float:
            began = time.perf_counter()
            subprocess.run([sys.executable, *words, str(script)], capture_output=True, check=True)
            return time.perf_counter() - began

        turns = [(seconds(), seconds("-m", "whygrad", "run")) for _ in range(rounds + 1)][1:]
    more = statistics.median(watched - bare for bare, watched in turns)
    length = statistics.median(bare for bare, _ in turns)
    return [
        Row(
            section="the start of a script that never imports a framework",
            what="`whygrad run`",
            where=f"a line of Python, {length:.2g} s",
            figure=f"{more:+.3f} s",
            budget="+0.1 s",
            held=more <= 0.1,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    record(start(rounds))
    record(first_steps("MLP", rounds))
    record(first_steps("CNN", rounds))
    record(first_steps_of_loops("CNN", rounds))
    record(second_fit("MLP", 3 * rounds))


if __name__ == "__main__":
    main()
