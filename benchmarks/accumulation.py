"""What accumulating costs: time per micro-batch and peak memory, against a bare loop, a list of tensors, and Keras.

    python benchmarks/accumulation.py [--workloads dense embedding fit] [--rounds 15] [--steps 8] [--no-memory]

Times: all contestants take turns in one process, one window each; a figure is the median over the rounds of the
ratio to Keras's own `gradient_accumulation_steps` in the same round. `keras again` is a second copy of that: what its
ratio is away from 1 is noise. Memory: each contestant alone in a new process; a figure is how much its peak is above
the bare loop's, in copies of all gradients (dense), so that 1.0 is one buffer for each variable. `big batch` is the
whole window in one step: what an update with that many rows of an embedding takes by itself. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from record import Row, record

CONTESTANTS = ("bare", "big batch", "list", "keras", "keras again", "Accumulator", "accumulate")


@dataclass(frozen=True)
class Size:
    """How large the workloads are; `--tiny` only shows that everything runs."""

    width: int = 1500
    layers: int = 6
    batch: int = 16
    rows: int = 1_000_000
    columns: int = 64
    touched: float = 0.001

    @property
    def tokens(self) -> int:
        return max(1, int(self.rows * self.touched))


TINY = Size(width=16, layers=2, rows=1000, columns=4, touched=0.01)


def model_for(workload: str, size: Size, microbatches: int = 1) -> tuple[Any, Any, Any]:
    """A fresh model and a batch for it."""
    import keras
    import numpy as np

    rng = np.random.default_rng(0)
    if workload == "embedding":
        table = keras.layers.Embedding(size.rows, size.columns)
        model = keras.Sequential([keras.Input((1,)), table, keras.layers.Flatten(), keras.layers.Dense(1)])
        tokens = size.tokens * microbatches
        x = rng.choice(size.rows, size=(tokens, 1), replace=False)
        return model, x, rng.normal(size=(tokens, 1)).astype("float32")
    layers = [keras.layers.Dense(size.width, activation="relu") for _ in range(size.layers)]
    model = keras.Sequential([keras.Input((size.width,)), *layers, keras.layers.Dense(1)])
    examples = size.batch * microbatches
    x = rng.normal(size=(examples, size.width)).astype("float32")
    return model, x, rng.normal(size=(examples, 1)).astype("float32")


def optimizer_for(contestant: str, steps: int) -> Any:
    import keras

    from whygrad.training.accumulation.accumulate import accumulate

    if contestant.startswith("keras"):
        return keras.optimizers.Adam(1e-4, gradient_accumulation_steps=steps)
    if contestant == "accumulate":
        return accumulate(keras.optimizers.Adam(1e-4), steps)
    return keras.optimizers.Adam(1e-4)


def window_for(contestant: str, workload: str, size: Size, steps: int) -> Callable[[], None]:
    """A function that trains on one window of `steps` micro-batches."""
    if workload == "fit":
        return fitted_window(contestant, size, steps)
    import tensorflow as tf

    from whygrad.training.accumulation.accumulator import Accumulator

    whole = contestant == "big batch"
    model, x, y = model_for(workload, size, steps if whole else 1)
    x, y = tf.constant(x), tf.constant(y)
    variables = model.trainable_variables
    optimizer = optimizer_for(contestant, steps)
    optimizer.build(variables)
    accumulator = Accumulator(steps=steps)

    def gradients(x: Any, y: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        return list(tape.gradient(loss, variables))

    def bare(x: Any, y: Any) -> None:
        optimizer.apply(gradients(x, y), variables)

    def weighted(x: Any, y: Any) -> None:
        optimizer.apply(gradients(x, y), variables, weight=tf.shape(x)[0])

    def accumulated(x: Any, y: Any) -> None:
        accumulator.add(gradients(x, y), variables, weight=tf.shape(x)[0])
        if accumulator.ready:
            accumulator.apply(optimizer)

    if contestant == "list":
        return listed_window(tf.function(gradients), optimizer, variables, x, y, steps)
    kinds = {"Accumulator": accumulated, "accumulate": weighted}
    step = tf.function(kinds.get(contestant, bare))

    def window() -> None:
        for _ in range(1 if whole else steps):
            step(x, y)

    return window


def listed_window(gradients: Any, optimizer: Any, variables: Any, x: Any, y: Any, steps: int) -> Callable[[], None]:
    """What people write by hand: keep the gradients of each micro-batch, add them up at the end."""
    import tensorflow as tf

    @tf.function
    def update(kept: list[list[Any]]) -> None:
        means = [
            tf.IndexedSlices(
                tf.concat([part.values for part in parts], 0) / steps,
                tf.concat([part.indices for part in parts], 0),
                parts[0].dense_shape,
            )
            if isinstance(parts[0], tf.IndexedSlices)
            else tf.add_n(parts) / steps
            for parts in zip(*kept, strict=True)
        ]
        optimizer.apply(means, variables)

    def window() -> None:
        update([gradients(x, y) for _ in range(steps)])

    return window


def fitted_window(contestant: str, size: Size, steps: int) -> Callable[[], None]:
    """One window through `model.fit`: four times as many, so that what fit costs once counts less."""
    import numpy as np

    model, x, y = model_for("dense", size)
    model.compile(optimizer_for(contestant, steps), loss="mse", jit_compile=False)
    x, y = np.tile(x, (4 * steps, 1)), np.tile(y, (4 * steps, 1))

    def window() -> None:
        model.fit(x, y, batch_size=size.batch, shuffle=False, verbose=0)

    return window


def contestants_of(workload: str) -> list[str]:
    return [name for name in CONTESTANTS if workload != "fit" or name not in ("list", "Accumulator", "big batch")]


def times(workload: str, size: Size, steps: int, rounds: int) -> dict[str, list[float]]:
    """Seconds per micro-batch of each contestant in each round."""
    windows = {name: window_for(name, workload, size, steps) for name in contestants_of(workload)}
    for window in windows.values():
        window()
        window()
    count = 4 * steps if workload == "fit" else steps
    found: dict[str, list[float]] = {name: [] for name in windows}
    for _ in range(rounds):
        for name, window in windows.items():
            start = time.perf_counter()
            window()
            found[name].append((time.perf_counter() - start) / count)
    return found


def peak_of(contestant: str, workload: str, size: Size, steps: int) -> dict[str, float]:
    """Peak memory of this process after three windows, and the size of all gradients, in MiB."""
    model, _, _ = model_for(workload, size)
    gradients = sum(variable.value.numpy().nbytes for variable in model.trainable_variables) / 2**20
    del model
    window = window_for(contestant, workload, size, steps)
    for _ in range(3):
        window()
    return {"peak": peak_memory(), "gradients": gradients}


def peak_memory() -> float:
    """MiB. Not `ru_maxrss`: a child inherits that from the process that started it."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def memory(workload: str, steps: int, tiny: bool) -> dict[str, float]:
    """Copies of the gradients above the bare loop's peak, each contestant in a process of its own."""
    peaks, copy = {}, 1.0
    for name in contestants_of(workload):
        command = [sys.executable, __file__, "--peak-of", name, "--workloads", workload, "--steps", str(steps)]
        done = subprocess.run(command + (["--tiny"] if tiny else []), capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        peaks[name], copy = found["peak"], found["gradients"]
    return {name: (peak - peaks["bare"]) / copy for name, peak in peaks.items()}


def report(workload: str, size: Size, found: dict[str, list[float]], copies: dict[str, float]) -> None:
    print(f"\n## {workload}\n")
    print("| | ms per micro-batch | to Keras's own | spread | copies of the gradients above bare |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, seconds in found.items():
        ratios = sorted(a / b for a, b in zip(seconds, found["keras"], strict=True))
        low, high = ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4]
        share = f"{copies[name]:.2f}" if name in copies else "-"
        print(
            f"| {name} | {statistics.median(seconds) * 1e3:.2f} | {statistics.median(ratios):.3f} "
            f"| {low:.3f} to {high:.3f} | {share} |"
        )
    if size == Size():
        keep(workload, found)


def keep(workload: str, found: dict[str, list[float]]) -> None:
    """What accumulating costs, to Keras's own; a list of tensors is what people write by hand."""
    keras = found["keras"]
    ratios = {name: [a / b for a, b in zip(each, keras, strict=True)] for name, each in found.items()}
    null = statistics.median(ratios["keras again"])
    rows = []
    for name in ("list", "Accumulator", "accumulate"):
        if name in ratios:
            low, middle, high = statistics.quantiles(ratios[name], n=4)
            rows.append(
                Row(
                    section="accumulating, one micro-batch, to Keras's own `gradient_accumulation_steps`",
                    what="a list by hand" if name == "list" else f"`wg.{name}`",
                    where=workload,
                    figure=f"{middle:.3f} ({low:.3f} to {high:.3f})",
                    null=f"{null:.3f}",
                    budget="–" if name == "list" else "1",
                    held=None if name == "list" else middle / null <= 1.02,  # a second of what the null cannot tell
                )
            )
    record(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=["dense", "embedding", "fit"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="small models: does it run?")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = TINY if options.tiny else Size()
    if options.peak_of:
        print(json.dumps(peak_of(options.peak_of, options.workloads[0], size, options.steps)))
        return
    for workload in options.workloads:
        copies = {} if options.no_memory else memory(workload, options.steps, options.tiny)
        report(workload, size, times(workload, size, options.steps, options.rounds), copies)


if __name__ == "__main__":
    main()
