"""What it costs to record every step, beside TensorFlow's own tools that look at every step.

    python benchmarks/monitor.py [--pairs 200] [--repeats 3] [--models MLP,CNN,transformer]

`Monitor` and bare steps alternate in one process; the figure is the median of paired ratios, beside a null of bare
against bare. The other tools cannot be switched off again: each runs in a process of its own, in turns with bare
ones. Writes the tables to benchmarks/monitor.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from networks import make
from record import record

TOOLS = ("Monitor", "check_numerics", "debug info CURT_HEALTH", "debug info FULL_HEALTH", "TensorBoard histograms")
WARM = 5
SHORT = 6.0  # milliseconds: below it the budget is 1.06, else 1.03


# --- in one process, in turns -------------------------------------------------------------------------------------


def trainers(name: str, jit: bool, folder: str) -> tuple[list[Any], Any]:
    """Two bare models and a monitored one, each with the function that `fit` would call, and the Monitor."""
    from whygrad.training.monitor.monitor import Monitor

    monitor = Monitor(folder=folder)
    made = []
    for watched in (False, False, True):
        model, batch = make(name, jit=jit)
        iterator = endless(batch)
        model.make_train_function()
        if watched:
            model.history = object()
            monitor.set_model(model)
            monitor.on_train_begin()
        made.append((model, iterator))
    return made, monitor


def endless(batch: Any) -> Any:
    import tensorflow as tf

    return iter(tf.data.Dataset.from_tensors(batch).cache().repeat().prefetch(2))


def in_turns(name: str, jit: bool, pairs: int) -> dict[str, Any]:
    """Paired ratios of Monitor and of bare to bare, and whether the weights stay bit for bit the same."""
    with tempfile.TemporaryDirectory() as folder:
        made, monitor = trainers(name, jit, folder)
        for model, iterator in made:
            for _ in range(WARM):
                model.train_function(iterator)
        times: list[list[float]] = [[], [], []]
        for turn in range(pairs):
            order = (0, 1, 2) if turn % 2 else (2, 1, 0)
            for which in order:
                model, iterator = made[which]
                started = time.perf_counter()
                model.train_function(iterator)
                times[which].append(time.perf_counter() - started)
        monitor.on_train_end()
        recorded = monitor.run.last_step() + 1
    assert recorded == pairs + WARM
    digests = {digest(model) for model, _ in made}
    bare, null, watched = times
    return {
        "milliseconds": statistics.median(bare) * 1e3,
        "ratio": [w / b for w, b in zip(watched, bare, strict=True)],
        "null": [n / b for n, b in zip(null, bare, strict=True)],
        "equal": len(digests) == 1,
    }


def digest(model: Any) -> str:
    state = hashlib.sha256()
    for variable in model.variables:
        state.update(variable.numpy().tobytes())
    return state.hexdigest()


# --- in processes of their own ------------------------------------------------------------------------------------


def alone(name: str, tool: str, jit: bool, steps: int, folder: str) -> dict[str, Any]:
    """One training under one tool, as a user would start it."""
    import tensorflow as tf

    callbacks: list[Any] = []
    if tool == "Monitor":
        from whygrad.training.monitor.monitor import Monitor

        callbacks.append(Monitor(folder=folder))
    elif tool == "check_numerics":
        tf.debugging.enable_check_numerics()
    elif tool.startswith("debug info"):
        tf.debugging.experimental.enable_dump_debug_info(
            folder, tensor_debug_mode=tool.split()[-1], circular_buffer_size=-1
        )
    model_class = histogram_model(folder) if tool == "TensorBoard histograms" else None
    model, batch = make(name, jit=jit, model_class=model_class)
    clock = Clock()
    data = tf.data.Dataset.from_tensors(batch).cache().repeat()
    model.fit(data, steps_per_epoch=steps, epochs=1, verbose=0, shuffle=False, callbacks=[*callbacks, clock.callback()])
    return {
        "first": clock.times[0],
        "step": statistics.median(clock.times[WARM:]),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "bytes": sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / steps,
        "digest": digest(model),
    }


class Clock:
    """How long each step took; the first one with its tracing and compiling."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.begun = 0.0

    def callback(self) -> Any:
        import keras

        def begin(batch: int, logs: Any = None) -> None:
            self.begun = time.perf_counter()

        def end(batch: int, logs: Any = None) -> None:
            self.times.append(time.perf_counter() - self.begun)

        class Timing(keras.callbacks.Callback):
            on_train_batch_begin = staticmethod(begin)
            on_train_batch_end = staticmethod(end)

        return Timing()


def histogram_model(folder: str) -> Any:
    """The usual way to see gradients in TensorBoard: a training step that writes a histogram of each."""
    import keras
    import tensorflow as tf

    writer = tf.summary.create_file_writer(folder)

    class Histograms(keras.Model):
        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            with writer.as_default():
                step = tf.cast(tf.convert_to_tensor(self.optimizer.iterations), tf.int64)
                for gradient, variable in zip(gradients, self.trainable_variables, strict=True):
                    tf.summary.histogram(f"gradient/{variable.path}", tf.convert_to_tensor(gradient), step)
            self._loss_tracker.update_state(loss, sample_weight=tf.shape(x)[0])
            return self.compute_metrics(x, y, None)

        def compute_metrics(self, *args: Any, **kwargs: Any) -> Any:
            return self.get_metrics_result()

    return Histograms


def in_processes(name: str, jit: bool, tools: list[str], steps: int, repeats: int) -> dict[str, list[dict[str, Any]]]:
    """Every tool and bare, in turns, each time in a fresh process."""
    results: dict[str, list[dict[str, Any]]] = {tool: [] for tool in ("bare", *tools)}
    for _ in range(repeats):
        for tool in results:
            words = [
                sys.executable,
                __file__,
                "--alone",
                name,
                tool,
                "--steps",
                str(steps),
                *(["--jit"] if jit else []),
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name} under {tool} failed:\n{done.stderr[-3000:]}")
            results[tool].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"  {name} {tool}: {results[tool][-1]['step'] * 1e3:.2f} ms a step", file=sys.stderr)
    return results


# --- the tables ---------------------------------------------------------------------------------------------------


def turn_row(name: str, jit: bool, result: dict[str, Any]) -> str:
    budget = 1.06 if result["milliseconds"] < SHORT else 1.03
    ratio, null = spread(result["ratio"]), spread(result["null"])
    equal = "yes" if result["equal"] else "**no**"
    how = "XLA" if jit else "graph"
    return f"| {name} | {how} | {result['milliseconds']:.1f} ms | {ratio} | {null} | {budget} | {equal} |"


def spread(ratios: list[float]) -> str:
    """Median, and the middle half of the pairs."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def tool_rows(name: str, results: dict[str, list[dict[str, Any]]]) -> list[str]:
    rows = []
    for tool, runs in results.items():
        if tool == "bare":
            step, first = (statistics.median(run[key] for run in runs) for key in ("step", "first"))
            memory = statistics.median(run["memory"] for run in runs)
            rows.append(f"| {name} | bare | {step * 1e3:.1f} ms | {first:.1f} s | {memory:.0f} MB | – | – |")
            continue
        pairs = list(zip(runs, results["bare"], strict=True))
        steps = [mine["step"] / bare["step"] for mine, bare in pairs]
        firsts = [mine["first"] / bare["first"] for mine, bare in pairs]
        memory = statistics.median(mine["memory"] - bare["memory"] for mine, bare in pairs)
        equal = "yes" if all(mine["digest"] == bare["digest"] for mine, bare in pairs) else "no"
        written = statistics.median(run["bytes"] for run in runs) / 1e3
        rows.append(
            f"| {name} | {tool} | {statistics.median(steps):.2f} ({min(steps):.2f} to {max(steps):.2f}) |"
            f" {statistics.median(firsts):.2f} | {memory:+.0f} MB | {written:,.1f} kB | {equal} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100, help="of each process")
    parser.add_argument("--models", default="MLP,CNN,transformer")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--alone", nargs=2, metavar=("MODEL", "TOOL"), help=argparse.SUPPRESS)
    parser.add_argument("--turns", metavar="MODEL", help=argparse.SUPPRESS)
    parser.add_argument("--jit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(alone(*options.alone, options.jit, options.steps, folder)))
    elif options.turns is not None:
        print(json.dumps(in_turns(options.turns, options.jit, options.pairs)))
    else:
        compare(options)


def compare(options: argparse.Namespace) -> None:
    models, tools = options.models.split(","), options.tools.split(",")
    turns, others = [], []
    for name in models:
        for jit in (False, True):
            words = [
                sys.executable,
                __file__,
                "--turns",
                name,
                "--pairs",
                str(options.pairs),
                *(["--jit"] if jit else []),
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{name} in turns failed:\n{done.stderr[-3000:]}")
            result = json.loads(done.stdout.splitlines()[-1])
            turns.append(turn_row(name, jit, result))
            print(turns[-1], file=sys.stderr)
            if options.pairs >= 100:
                keep(name, jit, result)
        others += tool_rows(name, in_processes(name, False, tools, options.steps, options.repeats))
    text = f"""# What recording every step costs

Written by `benchmarks/monitor.py`: {os.cpu_count()} processors, {options.pairs} pairs, {options.repeats} processes of
{options.steps} steps for each tool. Ratios are to bare training.

## In one process, bare and monitored steps in turns

The middle half of the paired ratios is in brackets. The null is bare against bare.

| model | compiled as | bare step | Monitor | null | budget | weights bit-equal |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(turns)}

## In processes of their own, in turns

Compiled as graphs: TensorFlow's debugging tools do not work under XLA. All processes have the same clock callback.

| model | tool | step (lowest to highest) | first call | peak memory | written a step | weights bit-equal |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(others)}
"""
    options.output.write_text(text)
    print(text)


def keep(name: str, jit: bool, result: dict[str, Any]) -> None:
    budget = 1.06 if result["milliseconds"] < SHORT else 1.03
    length = f"a step of {result['milliseconds']:.1f} ms"
    figure = f"{spread(result['ratio'])}, null {spread(result['null'])}; {length}"
    what = f"`Monitor`, every step, {name} {'under XLA' if jit else 'as a graph'}"
    record(what, figure, f"<= {budget}", "python benchmarks/monitor.py")


if __name__ == "__main__":
    main()
