"""A training step bare and under each tool, in turns in one process.

    python benchmarks/side_by_side.py fit MLP [--jit] [--rounds 100]
    python benchmarks/side_by_side.py compiled policy
    python benchmarks/side_by_side.py read policy
    python benchmarks/side_by_side.py eager MLP

A round is a block of about 30 ms of every contestant, each round in another order. A figure is the median over the
rounds of a block's time to that of the bare block of the same round, with the middle half of them in brackets; `bare
again` is the null, a second copy of the bare contestant: what it is away from 1 is noise.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from contestants import Contestant, of_dump, of_fit, of_loop
from record import Row, record

BLOCK = 0.03  # seconds
LEAST = 200  # steps of less than a millisecond: a block has one snapshot at most, and several steps in sixteen
SHORT, TINY = 15.0, 1.0  # milliseconds: budgets are wider below, and in microseconds below that
ADDED = 30.0  # microseconds that watching may add to any step
NULL = "bare again"


def rounds_of(found: dict[str, Contestant], rounds: int) -> int:
    """Let every contestant take its blocks; how many steps a block has."""
    for each in found.values():
        with each.around():
            timed(each, each.warm)
    bare = found["bare"]
    length = statistics.median(timed(bare, 1) for _ in range(bare.warm))
    count = LEAST if length < TINY / 1e3 else max(1, round(BLOCK / length))
    order = list(found)
    gc.collect()
    for turn in range(rounds):
        order = order[1:] + order[:1] if turn % 2 else order[::-1]
        for name in order:
            each = found[name]
            if turn % each.turns == 0:
                with each.around():
                    timed(each, 1)  # what was switched on just now does its first things
                    each.seconds.append((turn, timed(each, count) / count))
    return count


def timed(contestant: Contestant, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        contestant.step()
    contestant.taken += count
    return time.perf_counter() - start


def ratios(mine: Contestant, bare: Contestant) -> list[float]:
    known = dict(bare.seconds)
    return [seconds / known[turn] for turn, seconds in mine.seconds]


def added(mine: Contestant, bare: Contestant) -> float:
    """Microseconds that are added to a step, in the middle of the rounds."""
    known = dict(bare.seconds)
    return 1e6 * statistics.median(seconds - known[turn] for turn, seconds in mine.seconds)


def digest(variables: Iterable[Any]) -> str:
    state = hashlib.sha256()
    for variable in variables:
        state.update(variable.numpy().tobytes())
    return state.hexdigest()


def budget_of(tool: str, kind: str, milliseconds: float) -> tuple[float | None, str]:
    """What a tool may cost; None: it is not ours."""
    short = milliseconds < SHORT
    if tool == "`whygrad run`":
        if kind == "eager":
            return 1.15, "1.15"
        limit = max(1.03, 1 + ADDED / 1e3 / milliseconds)
        return limit, "1.03" if limit == 1.03 else f"{ADDED:.0f} µs a step"
    if tool.startswith("`Monitor`"):
        return (1.05, "1.05") if short else (1.03, "1.03")
    if tool == "`wg.guard`":
        return (1.06, "1.06") if short else (1.03, "1.03")
    return None, "–"


def measure(kind: str, name: str, jit: bool, rounds: int, dump: str = "", ours: bool = False) -> list[Row]:
    """The rows of one network."""
    with tempfile.TemporaryDirectory() as folder:
        if dump:
            found = of_dump(name, folder, dump)
        else:
            loop, compiled = kind != "fit", kind in ("compiled", "read")
            found = of_loop(name, compiled=compiled, reads=kind == "read") if loop else of_fit(name, jit, folder, ours)
        rounds_of(found, rounds)
        bare = found["bare"]
        length = 1e3 * statistics.median(seconds for _, seconds in bare.seconds)
        null = spread(ratios(found[NULL], bare))
        middle = statistics.median(ratios(found[NULL], bare))
        ours = [each for tool, each in found.items() if budget_of(tool, kind, length)[0] is not None]
        for each in (bare, *ours):
            with each.around():
                timed(each, max(other.taken for other in (bare, *ours)) - each.taken)
        rows = []
        for tool, each in found.items():
            if tool in ("bare", NULL):
                continue
            limit, said = budget_of(tool, kind, length)
            figures = ratios(each, bare)
            middle_of = statistics.median(figures)
            extra = f"; {added(each, bare):+.0f} µs" if length < SHORT and limit is not None else ""
            rows.append(
                Row(
                    section=f"{described(kind, jit)}",
                    what=tool,
                    where=f"{name}, {length:.2g} ms",
                    figure=spread(figures) + extra,
                    null=null,
                    budget=said,
                    held=None if limit is None else middle_of / middle <= limit,
                    equal=digest(each.variables()) == digest(bare.variables()) if each in ours else None,
                )
            )
        for each in found.values():
            each.end()
    return rows


def described(kind: str, jit: bool) -> str:
    if kind == "fit":
        return "a step of `fit`, under XLA" if jit else "a step of `fit`, as a graph"
    return {
        "compiled": "a loop under `tf.function`",
        "read": "a loop under `tf.function` that reads its loss at every step",
        "eager": "an eager loop",
    }[kind]


def spread(figures: list[float]) -> str:
    """Median, and the middle half."""
    low, middle, high = statistics.quantiles(figures, n=4) if len(figures) > 1 else figures * 3
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("fit", "compiled", "read", "eager"))
    parser.add_argument("network")
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--ours", action="store_true", help="without the tools that others made")
    parser.add_argument("--dump", default="", metavar="MODE", help="TensorFlow's debugger, and nothing else")
    options = parser.parse_args()
    record(measure(options.kind, options.network, options.jit, options.rounds, options.dump, options.ours))


if __name__ == "__main__":
    main()
