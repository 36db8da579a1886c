"""Trains for as long as asked with everything on, while things go wrong, and asserts that nothing is lost or changed.

    python benchmarks/soak.py [--minutes 20]

Short trainings, one after another, each a process of its own under `whygrad run` with a `Monitor`, a guard and
accumulation: with NaN in a batch, killed at any moment, on a full disk, on a slow one, with a clock that jumps. Then a
long training, whose memory must be flat. Weights are compared with those of the same training without all this.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

STEPS = 400  # of a short training
BAD = (37, 38, 250)  # batches with a NaN
ROOM = 200_000  # bytes that a full disk has
SHORT_SHARE = 0.4  # of the time, for the short trainings
GROWTH = 0.02  # of the memory, which the second half of the long training may add to the first


# --- a training ---------------------------------------------------------------------------------------------------


def train(trouble: str, steps: int, seconds: float) -> None:
    """What a user's script does, as far as `trouble` lets it; tells its weights and its memory at the end."""
    import keras
    import numpy as np
    import tensorflow as tf

    import whygrad as wg

    bare = trouble.startswith("bare")
    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(64, 32)).astype("float32"), rng.normal(size=(64, 1)).astype("float32")
    layers = [keras.layers.Dense(64, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((32,)), *layers])
    optimizer: Any = wg.accumulate(keras.optimizers.Adam(1e-3), 2)
    callbacks: list[Any] = [Told(keras)]
    if not bare:
        optimizer = wg.guard(optimizer, patience=None)
        callbacks.append(wg.Monitor())
        provoke(trouble)
    model.compile(optimizer, "mse", jit_compile=False)

    def batches() -> Any:
        for i in itertools.count():
            bad = i in BAD and "nan" in trouble
            if bad and bare:
                continue  # a guard goes on as if these had not been there
            yield (np.full_like(x, np.nan) if bad else np.roll(x, i, 0)), y

    shapes = (tf.TensorSpec((64, 32)), tf.TensorSpec((64, 1)))
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    memory, ends = [], time.monotonic() + seconds
    for _ in range(10**9):
        count = steps - len(BAD) if bare and "nan" in trouble else steps
        model.fit(data, steps_per_epoch=count, epochs=1, verbose=0, callbacks=callbacks)
        memory.append(resident())
        if time.monotonic() >= ends:
            break
    digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.trainable_variables)).hexdigest()
    print(json.dumps({"digest": digest, "memory": memory, "steps": steps * len(memory)}))


class Told:
    """Tells of each step that is done, with the time, so that it is known what a kill may lose."""

    def __new__(cls, keras: Any) -> Any:
        class Telling(keras.callbacks.Callback):  # type: ignore[misc]
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                if batch % 20 == 19:
                    print(f"step {batch + 1} {time.monotonic():.3f}", flush=True)

        return Telling()


def provoke(trouble: str) -> None:
    """A slow disk, or a clock that jumps, inside this process."""
    if "slow disk" in trouble:
        import sqlite3

        connect = sqlite3.connect

        class Slow(sqlite3.Connection):
            def commit(self) -> None:
                time.sleep(0.2)
                super().commit()

            def execute(self, *words: Any) -> Any:
                time.sleep(0.005)
                return super().execute(*words)

        sqlite3.connect = lambda *args, **kwargs: connect(*args, **{"factory": Slow, **kwargs})  # type: ignore[assignment]
    if "clock" in trouble:
        real, jumps = time.time, random.Random(5)
        time.time = lambda: real() + jumps.choice((0, 0, 0, 86_400, -86_400))  # type: ignore[assignment]


def resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


# --- around it ----------------------------------------------------------------------------------------------------


def start(trouble: str, folder: Path, steps: int = STEPS, seconds: float = 0) -> subprocess.Popen[str]:
    under = [] if trouble.startswith("bare") else ["-m", "whygrad", "run"]
    words = [sys.executable, *under, __file__, "--train", trouble, str(steps), str(seconds)]

    def limit() -> None:
        if "full disk" in trouble:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    environment = {**os.environ, "WHYGRAD_DIR": str(folder)}
    return subprocess.Popen(
        words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        preexec_fn=limit,
    )


def result_of(process: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    out, err = process.communicate()
    assert "internal error" not in err, err[-2000:]
    told = [line for line in out.splitlines() if line.startswith("{")]
    assert told, f"exit {process.returncode}: {err[-3000:]}"
    return json.loads(told[0]), err


def steps_recorded(folder: Path) -> int:
    from whygrad.store import Run

    runs = sorted(folder.glob("*.sqlite")) or sorted(folder.rglob("*.sqlite"))
    assert runs, f"no run in {folder}: {list(folder.rglob('*'))}"
    return max(Run(path).last_step() + 1 for path in runs)


def killed(folder: Path, chance: random.Random) -> str:
    """Kill a training in mid-step: all that was done more than a second before can be read."""
    process = start("kill", folder, steps=100_000)
    assert process.stdout is not None
    seen: list[tuple[int, float]] = []
    ends = None
    for line in process.stdout:
        if line.startswith("step "):
            _, step, when = line.split()
            seen.append((int(step), float(when)))
            ends = ends or float(when) + chance.uniform(0.5, 6)
            if float(when) >= ends:
                break
    process.kill()
    process.communicate()
    at = time.monotonic()
    safe = max((step for step, when in seen if when < at - 1), default=0)
    found = steps_recorded(folder)
    assert found >= safe, f"{found} steps in the file, {safe} were done a second before the kill"
    return f"{found} steps can be read, {safe} had to"


def troubled(trouble: str, folder: Path, expected: str) -> str:
    found, err = result_of(start(trouble, folder))
    assert found["digest"] == expected, f"{trouble}: other weights than without whygrad"
    if "full disk" in trouble:
        told = [line for line in err.splitlines() if "whygrad" in line and ("warning" in line or "record" in line)]
        assert told, f"a full disk went by unsaid: {err[-500:]}"
        return f"same weights; said: {told[0][:100]}"
    count = steps_recorded(folder)
    assert count == STEPS, f"{trouble}: {count} of {STEPS} steps recorded"
    return f"same weights, {count} steps recorded"


TROUBLES = ("nothing", "nan", "kill", "full disk", "slow disk", "clock", "nan, slow disk, clock")


def long(folder: Path, seconds: float) -> str:
    """One process with everything on and NaN in its first epoch; its memory, after what is learnt at first, is flat."""
    found, _ = result_of(start("long, nan, clock", folder, seconds=seconds))
    memory = found["memory"]
    later = memory[len(memory) // 4 :]
    assert len(later) >= 4, f"too short to tell: {memory}"
    first, second = later[: len(later) // 2], later[len(later) // 2 :]
    growth = statistics.median(second) / statistics.median(first) - 1
    said = f"{found['steps']:,} steps, {memory[0]:.0f} MB after the first epoch, {first[0]:.0f} after a quarter, "
    said += f"{second[-1]:.0f} at the end ({growth:+.2%})"
    assert growth < GROWTH, f"memory grows: {said}"
    assert steps_recorded(folder) == found["steps"], f"{steps_recorded(folder)} of {found['steps']} steps recorded"
    return said


def soak(minutes: float) -> None:
    began = time.monotonic()
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as root:
        plain = {}
        for kind in ("bare", "bare, nan"):
            folder = Path(root) / kind.replace(", ", "-")
            folder.mkdir()
            plain[kind] = result_of(start(kind, folder))[0]["digest"]
        counts: dict[str, int] = {}
        for turn, trouble in enumerate(itertools.cycle(TROUBLES)):
            spent = time.monotonic() - began
            if turn >= len(TROUBLES) and spent > SHORT_SHARE * minutes * 60:
                break
            folder = Path(root) / f"turn{turn}"
            folder.mkdir()
            expected = plain["bare, nan" if "nan" in trouble else "bare"]
            said = killed(folder, chance) if trouble == "kill" else troubled(trouble, folder, expected)
            counts[trouble] = counts.get(trouble, 0) + 1
            print(f"[{spent / 60:.1f} min] {trouble}: {said}", flush=True)
        left = max(60.0, minutes * 60 - (time.monotonic() - began))
        folder = Path(root) / "long"
        folder.mkdir()
        print(f"long, {left / 60:.1f} min: {long(folder, left)}", flush=True)
    print(f"held for {(time.monotonic() - began) / 60:.1f} minutes: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--train", nargs=3, metavar=("TROUBLE", "STEPS", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        trouble, steps, seconds = options.train
        train(trouble, int(steps), float(seconds))
    else:
        soak(options.minutes)


if __name__ == "__main__":
    main()
