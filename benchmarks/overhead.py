"""What watching costs: eager steps, compiled steps and `fit` batches, watched and bare in turns in one process.

    python benchmarks/overhead.py [--pairs 9]

Each figure is the median of paired ratios with its spread; the null runs bare against bare.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

from record import record

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def timed(step: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        step()
    return time.perf_counter() - start


def ratios(
    bare: Callable[[], object], watched: Callable[[], object], count: int, pairs: int
) -> tuple[list[float], list[float]]:
    """Watched / bare and bare / bare, each pair back to back; what is compiled was traced under the same conditions."""
    from whygrad.watch import Run

    found, null = [], []
    for _ in range(pairs + 1):
        before = timed(bare, count)
        run = Run(None, None)
        run._start()
        watched()  # the first step pays for the explanation, and for tracing
        during = timed(watched, count)
        run._watcher.stop()
        after = timed(bare, count)
        found.append(2 * during / (before + after))
        null.append(after / before)
    return found[1:], null[1:]  # at the first turn all is cold


def with_and_without(measure: Callable[[bool], float], pairs: int) -> str:
    """What something adds to watching: the time with it between two without, as a median of ratios beside the null."""
    found, null = [], []
    for pair in range(pairs):
        first, between, last = measure(False), measure(True), measure(False)
        found.append(2 * between / (first + last))
        null.append(last / first if pair % 2 else first / last)
    low, high = (sorted(found)[i * len(found) // 4] for i in (1, 3))
    middle, level = statistics.median(found), statistics.median(null)
    spread = statistics.median(abs(each - level) for each in null)
    return f"{middle:.3f}x without ({low:.3f} to {high:.3f}; null {level:.3f} ± {spread:.3f})"


def show(name: str, watched: list[float], null: list[float], budget: float) -> None:
    low, high = sorted(watched)[len(watched) // 4], sorted(watched)[3 * len(watched) // 4]
    print(
        f"{name}: {statistics.median(watched):.3f}x bare (quartiles {low:.3f} to {high:.3f}, "
        f"null {statistics.median(null):.3f}, budget {budget})"
    )
    figure = f"{statistics.median(watched):.3f}x bare ({low:.3f} to {high:.3f}; null {statistics.median(null):.3f})"
    record(f"`whygrad run`, {name}", figure, f"<= {budget}x", "python benchmarks/overhead.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=9)
    pairs = parser.parse_args().pairs
    import keras
    import tensorflow as tf

    x, y = tf.random.normal((256, 64)), tf.random.normal((256, 1))
    batches = tf.data.Dataset.from_tensors((x, y)).repeat(100)

    def network() -> object:
        keras.utils.set_random_seed(0)
        layers = [keras.layers.Dense(256, activation="relu") for _ in range(4)]
        return keras.Sequential([keras.layers.Input((64,)), *layers, keras.layers.Dense(1)])

    def step() -> Callable[[], object]:
        model, optimizer = network(), keras.optimizers.Adam(1e-3)
        optimizer.build(model.trainable_variables)

        def run() -> object:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return run

    def fit() -> Callable[[], object]:
        model = network()
        model.compile("adam", "mse")  # compiled by XLA, as Keras chooses
        return lambda: model.fit(batches, verbose=0)

    show("eager step", *ratios(step(), step(), 20, pairs), budget=1.3)
    show("compiled step", *ratios(tf.function(step()), tf.function(step()), 300, pairs), budget=1.05)
    show("fit, 100 batches", *ratios(fit(), fit(), 2, pairs), budget=1.05)


if __name__ == "__main__":
    main()
