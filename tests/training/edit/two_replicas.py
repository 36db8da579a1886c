"""Run by test_replicas.py in a process of its own: logical devices must be made before TensorFlow starts.

Prints, as JSON, what each planned edit made of variables on two replicas, copies on both devices included.
"""

from __future__ import annotations

import json
from typing import Any

import keras
import tensorflow as tf

import whygrad as wg
from whygrad.errors import UsageError


def copies(variable: Any) -> list[list[float]]:
    own = getattr(variable, "_value", variable)
    return [[round(float(x), 5) for x in tf.reshape(part, [-1])] for part in own.values]


def main() -> dict[str, Any]:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        w = keras.Variable([4.0, -4.0], name="w", aggregation="mean")
        target = keras.Variable([0.0, 0.0], name="target", trainable=False)
        held = keras.Variable([1.0], name="held")
        rate = tf.Variable(0.0, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
        optimizer.build([w, held])
    edits = {
        "average": wg.edit.ExponentialAverage([w], decay=0.5),
        "soft": wg.edit.SoftUpdate([target], [w], rate=1.0),
        "clip": wg.edit.ClipWeights([w], 3.0),
        "freeze": wg.edit.Freeze([held], at=1, optimizer=optimizer),
        "line": wg.edit.Interpolate(rate, 0.0, 1.0, over=4),
    }

    @tf.function
    def step() -> None:
        def replica() -> None:
            optimizer.apply_gradients([(tf.constant([1.0, -1.0]), w), (tf.constant([1.0]), held)])
            for edit in edits.values():
                edit.step()

        strategy.run(replica)

    for _ in range(3):
        step()
    before = copies(w)
    with wg.edit.transaction([w, held, target, rate], optimizer, *edits.values()) as attempt:
        step()
        attempt.roll_back()
    return {
        "w": copies(w),
        "average": copies(edits["average"].averages[0]),
        "target": copies(target),
        "held": copies(held),
        "rate": copies(rate),
        "steps": int(edits["clip"].steps.numpy()),
        "restored": copies(w) == before,
        "refused": refused(strategy, w),
    }


def refused(strategy: Any, variable: Any) -> str:
    """What a transaction says that each replica would decide for itself."""

    def inside() -> None:
        with wg.edit.transaction([variable]):
            pass

    try:
        strategy.run(inside)
    except UsageError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    print(json.dumps(main()))
