"""Run by test_workers.py as each of three workers, with `TF_CONFIG` set. Prints, as JSON, what it found."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import whygrad as wg

WORKERS, BATCH, EXAMPLES = 3, 24, 96
SPOILT = BATCH + 10  # an example of the second batch, on the second worker


def logarithmic(y: Any, prediction: Any) -> Any:
    return tf.reduce_mean((tf.math.log(y) - prediction) ** 2)


def digest(variables: Iterable[Any]) -> str:
    return hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in variables)).hexdigest()


class Trainings:
    """The same small network, trained by `fit` on all workers."""

    def __init__(self, keras: Any, folder: str) -> None:
        self.keras, self.folder = keras, folder
        self.strategy = tf.distribute.MultiWorkerMirroredStrategy()
        self.worker = int(self.strategy.cluster_resolver.task_id)
        self.x = np.random.default_rng(0).normal(size=(EXAMPLES, 4)).astype("float32")
        self.y = self.x.sum(1, keepdims=True)
        self.bad = self.y.copy()
        self.bad[SPOILT] = np.nan
        self.bare: list[Any] = []

    def compiled(self, wrap: Any = lambda optimizer: optimizer, loss: Any = "mse") -> Any:
        keras = self.keras
        keras.utils.set_random_seed(0)
        with self.strategy.scope():
            model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
            model.compile(wrap(keras.optimizers.SGD(0.01, momentum=0.9)), loss, jit_compile=False)
        return model

    def fit(self, model: Any, y: Any = None, batch: int = BATCH, callbacks: Iterable[Any] = ()) -> Any:
        data = tf.data.Dataset.from_tensor_slices((self.x, self.y if y is None else y)).batch(batch)
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
        model.fit(data.with_options(options), verbose=0, callbacks=list(callbacks))
        return model

    def monitored(self, y: Any = None) -> Any:
        monitor = wg.Monitor(folder=self.folder)
        return self.fit(self.compiled(wg.guard), y, callbacks=[monitor]), monitor


def recorded(trainings: Trainings) -> dict[str, Any]:
    """`Monitor`, `guard` and `accumulate`."""
    bare, big = (trainings.fit(trainings.compiled(), batch=size).get_weights() for size in (BATCH, 2 * BATCH))
    trainings.bare = bare
    watched, monitor = trainings.monitored()
    small = trainings.fit(trainings.compiled(lambda optimizer: wg.accumulate(optimizer, 2))).get_weights()
    skipped, spoilt = trainings.monitored(trainings.bad)
    series = monitor.run.everything(monitor.run.tracks()[0].name)
    return {
        "bits kept": digest(watched.get_weights()) == digest(bare),
        "accumulated": max(float(np.abs(a - b).max()) for a, b in zip(small, big, strict=True)),
        "norms": series.variables[0].channels["norm"].tolist(),
        "losses": series.scalars["loss"].tolist(),
        "worker": monitor.run.facts().get("worker"),
        "named": [[event.step, event.data] for event in spoilt.run.events("not finite")],
        "held back": [[each.step, each.replicas] for each in skipped.optimizer.bad_steps],
        "finite": all(np.isfinite(each).all() for each in skipped.get_weights()),
    }


def edited(trainings: Trainings) -> dict[str, Any]:
    """What edits leave on this worker, also where each worker would decide or draw otherwise."""
    model, worker = trainings.compiled(), trainings.worker
    own_noise = np.random.default_rng(worker)
    average, clip = wg.edit.ExponentialAverage(model, 0.5), wg.edit.ClipWeights(model, 0.3)
    reset = wg.edit.Reset(
        model, lambda step: step == 2 + worker, to=lambda variable: own_noise.normal(size=variable.shape).astype("f")
    )
    before = wg.edit.snapshot(model)
    trainings.fit(model, callbacks=[average, clip, reset])
    weights = digest(model.trainable_variables)
    with wg.edit.transaction(model) as attempt:
        model.trainable_variables[0].assign_add(tf.ones((4, 1)))
        attempt.check(float("nan") if worker == 1 else 0.0)
    return {
        "weights": weights,
        "averages": digest(average.averages),
        "largest": max(float(np.abs(each).max()) for each in model.get_weights()),
        "resets": int(reset.resets.numpy()),
        "changed": [row.name for row in wg.edit.diff(before, model).changed],
        "put back": digest(model.trainable_variables) == weights,
        "reason": attempt.reason,
    }


def watched(trainings: Trainings) -> dict[str, Any]:
    """What is said of a loss that is not a number on one worker alone, and whether watching changed a healthy one."""
    with wg.watch() as healthy:
        same = trainings.fit(trainings.compiled()).get_weights()
    y = np.abs(trainings.y) + 1.0
    y[SPOILT] = -1.0
    with wg.watch() as broken:
        trainings.fit(trainings.compiled(loss=logarithmic), y)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return {
        "bits kept": digest(same) == digest(trainings.bare),
        "healthy": [each.rule for each in healthy.report().diagnostics],
        "broken": [
            [each.rule, each.message.rpartition(": ")[2], each.primary and lines[each.primary.span.line - 1].strip()]
            for each in broken.report().diagnostics
        ],
    }


def main(keras: Any, folder: str) -> dict[str, Any]:
    trainings = Trainings(keras, folder)
    return {room.__name__: room(trainings) for room in (recorded, edited, watched)}


if __name__ == "__main__":
    if sys.argv[1] == "keras":
        import keras
    else:
        import tf_keras as keras
    print(json.dumps(main(keras, sys.argv[2])))
