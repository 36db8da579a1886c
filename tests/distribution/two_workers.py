"""Run by test_workers.py as each of two workers, with `TF_CONFIG` set. Prints, as JSON, what it found."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tensorflow as tf

import whygrad as wg

BATCH, EXAMPLES = 16, 64


def main(keras: Any, folder: str) -> dict[str, Any]:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(EXAMPLES, 4)).astype("float32")
    y = x.sum(1, keepdims=True)
    bad = y.copy()
    bad[BATCH + 10] = np.nan  # the second batch, the second worker

    def fit(wrap: Any, y: Any = y, batch: int = BATCH, monitor: bool = False) -> Any:
        keras.utils.set_random_seed(0)
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch)
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
        with strategy.scope():
            model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
            model.compile(wrap(keras.optimizers.SGD(0.01, momentum=0.9)), "mse", jit_compile=False)
        callbacks = [wg.Monitor(folder=folder)] if monitor else []
        model.fit(data.with_options(options), verbose=0, callbacks=callbacks)
        return model, callbacks[0] if monitor else None

    def same(one: Any, other: Any) -> bool:
        return all(np.array_equal(a, b) for a, b in zip(one.get_weights(), other.get_weights(), strict=True))

    bare, _ = fit(lambda optimizer: optimizer)
    watched, monitor = fit(wg.guard, monitor=True)
    big, _ = fit(lambda optimizer: optimizer, batch=2 * BATCH)
    small, _ = fit(lambda optimizer: wg.accumulate(optimizer, 2))
    skipped, spoilt = fit(wg.guard, bad, monitor=True)
    pairs = zip(small.get_weights(), big.get_weights(), strict=True)
    series = monitor.run.everything(monitor.run.tracks()[0].name)
    return {
        "bits kept": same(watched, bare),
        "accumulated": max(float(np.abs(a - b).max()) for a, b in pairs),
        "norms": series.variables[0].channels["norm"].tolist(),
        "losses": series.scalars["loss"].tolist(),
        "worker": monitor.run.facts().get("worker"),
        "named": [[event.step, event.data] for event in spoilt.run.events("not finite")],
        "held back": [[each.step, each.replicas] for each in skipped.optimizer.bad_steps],
        "finite": all(np.isfinite(each).all() for each in skipped.get_weights()),
    }


if __name__ == "__main__":
    if sys.argv[1] == "keras":
        import keras
    else:
        import tf_keras as keras
    print(json.dumps(main(keras, sys.argv[2])))
