"""Run by test_restart.py as each worker, and again after it was killed. Prints each batch, and at last how it ended.

A window of four micro-batches lies across epochs of six: whenever a state is saved, a window is half full.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
import tensorflow as tf

import whygrad as wg

BATCH, BATCHES, EPOCHS = 8, 6, 2


def main(keras: Any, folder: str) -> dict[str, Any]:
    if "TF_CONFIG" in os.environ:
        strategy: Any = tf.distribute.MultiWorkerMirroredStrategy()
    else:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    x = np.random.default_rng(0).normal(size=(BATCH * BATCHES, 4)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(BATCH)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA

    class Say(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epoch = epoch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            print(f"epoch {self.epoch} batch {batch}", flush=True)

    def fit(*callbacks: Any) -> Any:
        keras.utils.set_random_seed(0)
        with strategy.scope():
            model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
            optimizer = wg.accumulate(keras.optimizers.SGD(0.05, momentum=0.9), 4, partial="carry")
            model.compile(optimizer, "mse", jit_compile=False)
        model.fit(data.with_options(options), epochs=EPOCHS, verbose=0, callbacks=list(callbacks))
        return model

    resumed = fit(keras.callbacks.BackupAndRestore(folder), Say())
    undisturbed = fit()
    pairs = zip(resumed.get_weights(), undisturbed.get_weights(), strict=True)
    return {
        "apart": max(float(np.abs(a - b).max()) for a, b in pairs),
        "updates": [int(each.optimizer.iterations.numpy()) for each in (resumed, undisturbed)],
        "waiting": [each.optimizer.microbatches for each in (resumed, undisturbed)],
    }


if __name__ == "__main__":
    if sys.argv[1] == "keras":
        import keras
    else:
        import tf_keras as keras
    print(json.dumps(main(keras, sys.argv[2])))
