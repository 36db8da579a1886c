"""How long `whygrad fix` takes for one finding, against two runs of the script up to the step that shows it.

python benchmarks/fix_time.py [NAME ...]

Seconds of the clock, and of the processor, which say the same on a machine that has nothing else to do. Each program
takes the number of its steps as an argument: the plain runs go as far as the step that shows the finding,
`whygrad fix` is handed a training that is far longer. Plain run, fix and plain run take turns, so that both meet the
same machine. At most 3 s more of the processor than the two runs may be needed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ALLOWED = 3.0  # seconds beside the two runs
LONG = 20_000  # steps of a training that nobody wants to wait for

HEAD = """
import sys
import numpy as np
import tensorflow as tf
import keras
steps = int(sys.argv[1])
keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((32,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
x = tf.random.normal((256, 32), seed=1)
y = tf.reduce_sum(x[:, :3], axis=1, keepdims=True)
optimizer = keras.optimizers.SGD(0.01)
scale = tf.Variable(1.0, name="scale")
weights = [*net.trainable_variables, scale]
"""
LOOP = """
for step in range(steps):
    {before}
    with tf.GradientTape() as tape:
        out = net(x, training=True) * {factor}
        loss = tf.reduce_mean(tf.square(out - y)){more}
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients([(g, v) for g, v in zip(gradients, weights) if g is not None])
"""
COMPILED = """
@tf.function
def train():
    with tf.GradientTape() as tape:
        out = net(x, training=True) * tf.round(scale)
        loss = tf.reduce_mean(tf.square(out - y))
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients([(g, v) for g, v in zip(gradients, weights) if g is not None])


for step in range(steps):
    train()
"""


@dataclass(frozen=True)
class Program:
    """A training, and the step that shows what is wrong with it."""

    text: str
    shown_at: int


PROGRAMS = {
    "certain at step 1, eager": Program(HEAD + LOOP.format(before="s = scale * 1.0", factor="s", more=""), 1),
    "likely at step 1, eager": Program(HEAD + LOOP.format(before="pass", factor="scale.numpy()", more=""), 1),
    "certain at step 1, compiled": Program(HEAD + COMPILED, 1),
    "fit, at its first step": Program(
        HEAD
        + "net.compile(optimizer, loss=lambda y, p: tf.reduce_mean(tf.square(tf.round(p) - y)))\n"
        + "net.fit(x, y, epochs=max(1, steps // 8), batch_size=32, verbose=0)\n",
        1,
    ),
    "NaN at step 40": Program(
        HEAD
        + LOOP.format(
            before="left = tf.constant(39.0 - step)", factor="scale", more=" + 0.0 * tf.sqrt(left + 0.0 * scale)"
        ),
        41,
    ),
}


def main() -> int:
    names = sys.argv[1:] or list(PROGRAMS)
    worst = 0.0
    for name in names:
        program = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(program.text, encoding="utf-8")
            first, _ = _timed(folder, "train.py", str(program.shown_at))
            fix, said = _timed(folder, "-m", "whygrad", "fix", "train.py", str(LONG))
            second, _ = _timed(folder, "train.py", str(program.shown_at))
        runs = first[0] + second[0], first[1] + second[1]
        worst = max(worst, fix[1] - runs[1])
        verified = "verified" if "\nverified:" in said else "not verified"
        clock = f"two runs {runs[0]:5.1f} s, fix {fix[0]:5.1f} s"
        print(
            f"{name:28} {clock}; processor {runs[1]:5.1f}, {fix[1]:5.1f}: {fix[1] - runs[1]:+4.1f} s, {verified}",
            flush=True,
        )
    print(f"at most {worst:+.1f} s beside the two runs (allowed {ALLOWED:+.1f})")
    return int(worst > ALLOWED)


def _timed(folder: str, *words: str) -> tuple[tuple[float, float], str]:
    """The seconds of a process and of those that it has started: by the clock, of the processor."""
    began, used = time.perf_counter(), _used()
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, env=environment)
    return (time.perf_counter() - began, _used() - used), done.stdout


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
