"""How time and memory grow with a model: variables, ops, bytes of parameters; bare and with each tool.

    python benchmarks/large.py                                       what `make benchmarks` takes
    python benchmarks/large.py --plain --variables 1000 10000 --ops 10000 100000 --megabytes 1024

TensorFlow optimizes a graph before it runs it, in time that grows with more than the square of its variables; `--plain`
turns that off for all, so that what grows in the tools can be seen (bare, 10,000 variables: 24 minutes with it).
Each figure is of a process of its own: what it took, and the peak of its memory above an idle process with TensorFlow.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from record import Row, record

THEIRS = "Keras's `gradient_accumulation_steps`"
TOOLS = ("bare", "`whygrad run`", "`Monitor`", "`wg.accumulate`", THEIRS)
STEPS = 5
Figures = dict[str, float]


def resident() -> float:
    """MiB, now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def many_variables(count: int) -> tuple[Callable[[Any], Any], Any, list[Any]]:
    """A loss over so many small variables, eight to a product."""
    import tensorflow as tf

    variables = [tf.Variable(tf.ones((4,)) * (1 + i % 7) / 8, name=f"v{i}") for i in range(count)]
    x = tf.ones((4,))

    def loss(x: Any) -> Any:
        parts = [tf.tanh(tf.add_n([v * x for v in variables[i : i + 8]])) for i in range(0, count, 8)]
        return tf.reduce_mean(tf.add_n(parts))

    return loss, x, variables


def many_ops(count: int) -> tuple[Callable[[Any], Any], Any, list[Any]]:
    """Layers one after another, unrolled: about so many ops with their gradients, and eight variables."""
    import tensorflow as tf

    variables = [tf.Variable(tf.eye(4) * 0.9, name=f"cell{i}") for i in range(8)]
    x = tf.ones((2, 4))

    def loss(x: Any) -> Any:
        for i in range(count // 10):
            x = tf.tanh(tf.matmul(x, variables[i % 8]) + x)
        return tf.reduce_mean(x)

    return loss, x, variables


def many_bytes(megabytes: int) -> tuple[Callable[[Any], Any], Any, list[Any]]:
    """Matrices of 64 MB."""
    import tensorflow as tf

    variables = [tf.Variable(tf.eye(4096) * 0.9, name=f"matrix{i}") for i in range(megabytes // 64)]
    x = tf.ones((16, 4096))

    def loss(x: Any) -> Any:
        for variable in variables:
            x = tf.tanh(tf.matmul(x, variable))
        return tf.reduce_mean(x)

    return loss, x, variables


KINDS = {"variables": many_variables, "ops": many_ops, "MB of parameters": many_bytes}


def model_of(kind: str, size: int) -> Any:
    """The same loss as a Keras model, so that `fit`, Monitor and an optimizer of Keras can be used."""
    import keras
    import tensorflow as tf

    loss, x, variables = KINDS[kind](size)

    class Large(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.weights_of_loss = [
                self.add_weight(shape=tuple(v.shape), name=f"w{i}", initializer="zeros")
                for i, v in enumerate(variables)
            ]
            for mine, v in zip(self.weights_of_loss, variables, strict=True):
                mine.assign(v)
            variables[:] = [each.value for each in self.weights_of_loss]

        def call(self, x: Any) -> Any:
            return tf.reshape(loss(x[0]), (1, 1))

    return Large(), x[None]


def measure(kind: str, size: int, tool: str, plain: bool) -> Figures:
    """The first step, the later ones, and what it takes to explain."""
    import keras
    import tensorflow as tf

    import whygrad as wg
    from whygrad.watch import Run

    if plain:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    idle = resident()
    found: Figures = {}
    model, x = model_of(kind, size)
    optimizer: Any = keras.optimizers.SGD(1e-6, gradient_accumulation_steps=2 if tool == THEIRS else None)
    if tool == "`wg.accumulate`":
        optimizer = wg.accumulate(optimizer, 2)
    model.compile(optimizer, "mse", jit_compile=False)
    data = tf.data.Dataset.from_tensors((x, tf.zeros((1, 1)))).repeat()
    clock: list[float] = []

    class Clock(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            clock.append(time.perf_counter())

    run = Run(None, None) if tool == "`whygrad run`" else None
    monitor = None
    with tempfile.TemporaryDirectory() as folder:
        callbacks: list[Any] = [Clock()]
        if tool == "`Monitor`":
            callbacks.append(monitor := wg.Monitor(folder=folder))
        if run is not None:
            run._start()
        began = time.perf_counter()
        model.fit(data, steps_per_epoch=1 + STEPS, verbose=0, callbacks=callbacks)
        assert monitor is None or not monitor._hooks.broken  # else it would be the figure of a bare run
        assert run is None or not run._watcher.backends["tensorflow"].has_failed()
        found["first"] = clock[0] - began
        found["step"] = (clock[-1] - clock[0]) / STEPS
        if run is not None:
            began = time.perf_counter()
            report = run.report()
            found["explain"] = time.perf_counter() - began
            found["diagnostics"] = len(report.diagnostics)
            run._watcher.stop()
    found["memory"] = peak() - idle
    return found


def table(kind: str, sizes: list[int], tools: tuple[str, ...], plain: bool) -> list[Row]:
    rows = []
    section = f"growth with {kind}{', graph optimizer off' if plain else ''}"
    for tool in tools:
        before: tuple[int, Figures] | None = None
        for size in sizes:
            words = [sys.executable, __file__, "--one", kind, str(size), tool, *(["--plain"] if plain else [])]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr[-2000:], file=sys.stderr)
                figure = "out of memory" if done.returncode == -9 else "failed"
                rows.append(Row(section=section, what=tool, where=f"{size:_} {kind}", figure=figure))
                continue
            now: Figures = json.loads(done.stdout.splitlines()[-1])
            told = f"first step {now['first']:.2f} s, then {now['step'] * 1e3:.1f} ms, {now['memory']:+.0f} MB"
            if "explain" in now:
                told += f", explained in {now['explain']:.2f} s"
            growth = "" if before is None else f"; {now['first'] / before[1]['first']:.1f} times the first step"
            where = f"{size:_} {kind}"
            rows.append(Row(section=section, what=tool, where=where, figure=told + growth))
            print(f"{rows[-1].what} | {where} | {rows[-1].figure}", file=sys.stderr, flush=True)
            before = size, now
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, nargs="*", default=[100, 1_000])
    parser.add_argument("--ops", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--megabytes", type=int, nargs="*", default=[256])
    parser.add_argument("--tools", nargs="+", default=list(TOOLS))
    parser.add_argument("--plain", action="store_true", help="without TensorFlow's graph optimizer")
    parser.add_argument("--one", nargs=3, metavar=("KIND", "SIZE", "TOOL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, size, tool = options.one
        print(json.dumps(measure(kind, int(size), tool, options.plain)))
        return
    sizes = zip(KINDS, (options.variables, options.ops, options.megabytes), strict=True)
    for kind, these in sizes:
        record(table(kind, these, tuple(options.tools), options.plain))


if __name__ == "__main__":
    main()
