"""Run by test_accumulate_replicas.py in a process of its own: logical devices must be made before TensorFlow starts.

Prints, as JSON, for both Kerases how far each accumulated training is from the big batch's on one device.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parents[2]))

from keras_pair import Kit, train, weights
from training.accumulation.big_batch import distance
from whygrad.training.accumulation.accumulate import accumulate


def build(kit: Kit, *, unused: bool = False) -> Any:
    class Unused(kit.keras.layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            self.extra = self.add_weight(name="extra", shape=(1,), initializer="ones")

        def call(self, x: Any) -> Any:
            return x

    start = kit.keras.initializers.RandomNormal(seed=1)
    table = kit.keras.layers.Embedding(10, 4, embeddings_initializer=start)
    last = [Unused()] if unused else []
    return kit.model(table, kit.keras.layers.Flatten(), kit.dense(2, dtype="float32"), *last, inputs=(3,))


def cases(kit: Kit) -> dict[str, tuple[list[str], Any, bool]]:
    """Devices, optimizer, and whether an example of the second replica is infinite."""
    optimizers = kit.keras.optimizers
    one, two = ["CPU:0"], ["CPU:0", "CPU:1"]
    return {
        "adam on one": (one, lambda: optimizers.Adam(0.01), False),
        "adam on two": (two, lambda: optimizers.Adam(0.01), False),
        "clipped on two": (two, lambda: optimizers.SGD(0.05, momentum=0.9, global_clipnorm=0.05), False),
        "scaled on two": (two, lambda: kit.loss_scaled(optimizers.SGD(0.05)), True),
    }


def main(keras: ModuleType, *, old: bool) -> dict[str, float]:
    warnings.simplefilter("ignore")  # that micro-batches were left out, that a variable has no gradient
    kit = Kit(keras, old=old)
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 10, size=(40, 3)), rng.normal(size=(40, 2)).astype("float32")
    found = {}
    for name, (devices, make, spoil) in cases(kit).items():
        targets = y.copy()
        if spoil:
            targets[6] = np.inf
        start = weights(build(kit))
        big = train(build(kit), accumulate(make(), 1), x, targets, batch_size=24, epochs=1)
        with tf.distribute.MirroredStrategy(devices).scope():
            optimizer = accumulate(make(), 3)
            small = train(build(kit), optimizer, x, targets, batch_size=8, epochs=1)
        found[name] = distance(weights(small), weights(big), start)
        assert int(optimizer.iterations.numpy()) == int(big.optimizer.iterations.numpy())
        assert optimizer.microbatches == 0
        assert optimizer.dropped == (3 if spoil else 0)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        decayed = keras.optimizers.AdamW(0.01, weight_decay=0.5)
        model = train(build(kit, unused=True), accumulate(decayed, 3), x, y, batch_size=8, epochs=1)
    found["a variable without gradient moved by"] = abs(float(weights(model)[3][0]) - 1.0)
    return found


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    import keras
    import tf_keras

    print(json.dumps({"keras": main(keras, old=False), "tf_keras": main(tf_keras, old=True)}))
