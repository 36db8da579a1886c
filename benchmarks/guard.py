"""What a guard against NaN costs on steps where there is none, beside TensorFlow's own check of every tensor.

    python benchmarks/guard.py [--pairs 60] [--models MLP,CNN,transformer] [--jit]

Guarded and bare steps of `fit`'s own compiled function alternate in one process; the figure is the median of paired
ratios, beside a null of bare against bare. `enable_check_numerics` is switched on last, for a model traced under it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from networks import make
from record import record

WARM = 5
SHORT = 6.0  # milliseconds: below it the budget is 1.06, else 1.03


def trainer(name: str, jit: bool, wrap: Callable[[Any], Any] | None = None) -> Callable[[], None]:
    """One step of the function that `fit` would call, with or without a guard."""
    import tensorflow as tf

    model, batch = make(name, jit=jit)
    if wrap is not None:
        model.optimizer = wrap(model.optimizer)
    model.make_train_function()
    iterator = iter(tf.data.Dataset.from_tensors(batch).cache().repeat().prefetch(2))
    return lambda: model.train_function(iterator)


def timed(step: Callable[[], None]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def paired(bare: Callable[[], None], other: Callable[[], None], pairs: int) -> list[float]:
    """other / bare, each pair back to back, first the one and then the other."""
    found = []
    for i in range(pairs):
        first, second = (bare, other) if i % 2 else (other, bare)
        one, two = timed(first), timed(second)
        found.append(two / one if i % 2 else one / two)
    return found


def show(what: str, ratios: list[float]) -> str:
    low, high = sorted(ratios)[len(ratios) // 4], sorted(ratios)[3 * len(ratios) // 4]
    print(f"  {what}: {statistics.median(ratios):.3f}x bare (quartiles {low:.3f} to {high:.3f})")
    return f"{statistics.median(ratios):.3f}x bare ({low:.3f} to {high:.3f})"


def measure(name: str, jit: bool, pairs: int) -> None:
    import tensorflow as tf

    import whygrad as wg

    bare, again, guarded = trainer(name, jit), trainer(name, jit), trainer(name, jit, wg.guard)
    for step in (bare, again, guarded) * WARM:
        step()
    length = 1e3 * statistics.median(timed(bare) for _ in range(WARM))
    print(f"{name}{', jit_compile' if jit else ''}: a step of {length:.1f} ms")
    null = paired(bare, again, pairs)
    figure = show("guard", paired(bare, guarded, pairs))
    show("null", null)
    if not jit:  # under XLA it has nothing to look with
        tf.debugging.enable_check_numerics()
        checked = trainer(name, jit)
        for _ in range(WARM):
            checked()
        tf.debugging.disable_check_numerics()
        show("enable_check_numerics", paired(bare, checked, pairs))
    budget = "1.06" if length < SHORT else "1.03"
    where = f"{name}{', jit_compile' if jit else ''}"
    record(
        f"`wg.guard`, {where}",
        f"{figure}; null {statistics.median(null):.3f}; a step of {length:.0f} ms",
        f"<= {budget}x",
        "python benchmarks/guard.py" + (" --jit" if jit else ""),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--models", default="MLP,CNN,transformer")
    parser.add_argument("--jit", action="store_true")
    options = parser.parse_args()
    for name in options.models.split(","):
        measure(name, options.jit, options.pairs)


if __name__ == "__main__":
    main()
