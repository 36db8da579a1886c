"""What it costs to record every step under MultiWorkerMirroredStrategy: two processes on loopback, in step.

    python benchmarks/workers.py [--rounds 100] [--width 1024]

Bare and monitored steps alternate; the figure is the median of paired ratios on the first worker, beside a null of bare
against bare. Where both workers share the cores of one machine, so do their costs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from record import Row, record

LIMIT = 600.0  # seconds
BUDGET = 1.05


def trainers(width: int, folder: str) -> list[tuple[Any, Any]]:
    """Two bare models and a monitored one, each with the data that its training function takes."""
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras

    import whygrad as wg

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, width)).astype("float32")
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    data = tf.data.Dataset.from_tensors((x, x[:, :1])).cache().repeat().prefetch(2).with_options(options)
    found = []
    for watched in (False, False, True):
        with strategy.scope():
            dense = [keras.layers.Dense(width, "relu") for _ in range(3)]
            model = keras.Sequential([keras.layers.Input((width,)), *dense, keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.make_train_function()
        if watched:
            model.history = object()
            monitor = wg.Monitor(folder=folder)
            monitor.set_model(model)
            monitor.on_train_begin()
        found.append((model, iter(strategy.experimental_distribute_dataset(data))))
    return found


def work(pairs: int, width: int) -> None:
    """One worker: the ratios of paired steps, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        models = trainers(width, folder)

        def seconds(place: int) -> float:
            model, batches = models[place]
            start = time.perf_counter()
            model.train_function(batches)
            return time.perf_counter() - start

        for place in (0, 1, 2) * 5:
            seconds(place)
        taken = []
        for turn in range(pairs):  # in another order each time: whoever comes second finds the caches warm
            order = [(turn + place) % 3 for place in range(3)]
            times = {place: seconds(place) for place in order}
            taken.append([times[place] for place in range(3)])
    bare, other, watched = (list(column) for column in zip(*taken, strict=True))
    ratios = [w / b for w, b in zip(watched, bare, strict=True)]
    null = [o / b for o, b in zip(other, bare, strict=True)]
    spread = statistics.quantiles(ratios, n=4)
    print(
        json.dumps(
            {
                "step, ms": 1e3 * statistics.median(bare),
                "Monitor": statistics.median(ratios),
                "quartiles": [spread[0], spread[2]],
                "null": statistics.median(null),
                "of null": statistics.quantiles(null, n=4)[::2],
            }
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--width", type=int, default=1024, help="of the three hidden layers")
    options = parser.parse_args()
    if "TF_CONFIG" in os.environ:
        work(options.rounds, options.width)
        return 0
    with socket.socket() as one, socket.socket() as two:
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in (one, two)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the workers are ended, too
    processes = []
    for index in range(2):
        config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(config), "TF_CPP_MIN_LOG_LEVEL": "3"}
        environment |= {"CUDA_VISIBLE_DEVICES": "-1"}
        words = [sys.executable, __file__, f"--rounds={options.rounds}", f"--width={options.width}"]
        processes.append(subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    try:
        out, err = processes[0].communicate(timeout=LIMIT)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    if processes[0].returncode not in (0, None) and not out:
        print(err.decode()[-2000:], file=sys.stderr)
        return 1
    found = json.loads(out.decode().splitlines()[-1])
    record(
        [
            Row(
                section="two workers under `MultiWorkerMirroredStrategy`, `fit`",
                what="`Monitor`, every step",
                where=f"MLP of three layers of {options.width}, {found['step, ms']:.0f} ms",
                figure=f"{found['Monitor']:.3f} ({found['quartiles'][0]:.3f} to {found['quartiles'][1]:.3f})",
                null=f"{found['null']:.3f} ({found['of null'][0]:.3f} to {found['of null'][1]:.3f})",
                budget=f"{BUDGET}",
                held=found["Monitor"] <= BUDGET * found["null"],
            )
        ]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
