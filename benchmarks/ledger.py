"""What the ledger of writes adds to watching: steps with it and without it, in turns in one process.

    python benchmarks/ledger.py [--pairs 15]

Each figure is the median of paired ratios with its quartiles; the null compares without and without. On a busy machine
the null is wide: then the last figure tells more, the ledger's own work for one run of a compiled step, taken alone.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from overhead import timed, with_and_without
from record import record

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@contextlib.contextmanager
def watched(*, ledger: bool) -> Iterator[None]:
    """Watching as `wg.watch()` does; without the ledger, its three entries do nothing."""
    from whygrad.backends.tensorflow.ledger.ledger import LedgerBook

    from whygrad.watch import Run

    kept = {name: getattr(LedgerBook, name) for name in ("note", "ran", "updating")}
    if not ledger:
        for name in kept:
            setattr(LedgerBook, name, lambda *_: None)
    run = Run(None, None)
    run._start()
    try:
        yield
    finally:
        run._watcher.stop()
        for name, method in kept.items():
            setattr(LedgerBook, name, method)


def measured(step: Callable[[], object], count: int, *, ledger: bool) -> float:
    with watched(ledger=ledger):
        timed(step, 2)  # the first steps pay for the explanation
        return timed(step, count)


def compare(name: str, step: Callable[[], object], count: int, pairs: int) -> None:
    figure = with_and_without(lambda used: measured(step, count, ledger=used), pairs)
    print(f"{name}: {figure}")
    record(f"ledger, {name}", figure, "none measurable", "python benchmarks/ledger.py")


def alone(make: Callable[[], Any]) -> None:
    """The one call that a compiled step costs, on the graph it was made for, as a share of that step."""
    from whygrad.backends.tensorflow.capture import running_capture

    with watched(ledger=True):
        compiled = make()  # traced while watched, so that its writes are known
        timed(compiled, 20)
        step = timed(compiled, 1000) / 1000
        capture = running_capture()
        assert capture is not None
        book = capture.recorder.ledger
        graph = compiled.get_concrete_function().graph
        before = book.step
        best = min(timed(lambda: book.ran((graph,)), 20_000) / 20_000 for _ in range(7))
        assert book.step == before + 7 * 20_000, "these runs were not counted"
    print(f"one compiled step: {best * 1e6:.2f} us of {step * 1e6:.0f} us, {best / step:.2%}")
    figure = f"{best * 1e6:.2f} us, {best / step:.2%} of a step of {step * 1e6:.0f} us"
    record("ledger, its own work in a compiled step", figure, "none measurable", "python benchmarks/ledger.py")


def alone_eager(step: Callable[[], object], count: int = 60) -> None:
    """All that the ledger does in an eager step, clocked where it is called."""
    from whygrad.backends.tensorflow.ledger.ledger import LedgerBook

    from whygrad.backends.tensorflow.log.recorder import Recorder

    spent, calls = 0.0, 0
    note, update = LedgerBook.note, Recorder._note_update

    def clocked(original: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            nonlocal spent, calls
            start = time.perf_counter()
            original(*arguments)
            spent += time.perf_counter() - start
            calls += 1

        return call

    with watched(ledger=True):
        timed(step, 3)
        Recorder._note_update = clocked(update)  # type: ignore[method-assign]
        whole = timed(step, count) / count
        Recorder._note_update = update  # type: ignore[method-assign]
    assert note is LedgerBook.note
    mine = spent / count
    print(f"one eager step: {mine * 1e6:.0f} us of {whole * 1e6:.0f} us, {mine / whole:.1%}, {calls / count:.0f} ops")
    figure = f"{mine / whole:.1%} of a step of {whole * 1e3:.1f} ms"
    record("ledger, its own work in an eager step", figure, "within 1.3x", "python benchmarks/ledger.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    pairs = parser.parse_args().pairs
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(64, activation="relu") for _ in range(4)]
    model = keras.Sequential([keras.layers.Input((32,)), *layers, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    x, y = tf.random.normal((32, 32)), tf.random.normal((32, 1))

    def step() -> object:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    compiled = tf.function(step)
    timed(step, 5), timed(compiled, 20)
    alone(lambda: tf.function(step))
    alone_eager(step)
    compare("compiled step", compiled, 1000, pairs)
    compare("eager step", step, 20, pairs)


if __name__ == "__main__":
    main()
