"""Run by test_parameter_server.py as a chief, two workers and a server. The chief prints, as JSON, what it found."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

import whygrad as wg
from whygrad.errors import WhygradError

BATCH, EXAMPLES = 16, 64


class Chief:
    """Sends the same training to the workers, one step after the other."""

    def __init__(self, resolver: Any) -> None:
        self.strategy = tf.distribute.ParameterServerStrategy(resolver)
        self.coordinator = tf.distribute.coordinator.ClusterCoordinator(self.strategy)
        self.x = np.random.default_rng(0).normal(size=(EXAMPLES, 4)).astype("float32")
        self.y = self.x.sum(1, keepdims=True)

    def data(self, context: Any = None) -> Any:
        return tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(BATCH).repeat()

    def model(self) -> Any:
        keras.utils.set_random_seed(0)
        return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])

    def loop(self, *, stopped: bool = False) -> list[Any]:
        """The weights after four steps."""
        strategy = self.strategy
        with strategy.scope():
            model, optimizer = self.model(), keras.optimizers.SGD(0.01)
            optimizer.build(model.trainable_variables)
        first, last = model.layers

        @tf.function
        def step(batches: Any) -> None:
            def replica(x: Any, y: Any) -> None:
                with tf.GradientTape() as tape:
                    hidden = first(x)
                    if stopped:
                        hidden = tf.stop_gradient(hidden)
                    loss = tf.reduce_mean((last(hidden) - y) ** 2)
                gradients = tape.gradient(loss, model.trainable_variables)
                pairs = zip(gradients, model.trainable_variables, strict=True)
                optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

            strategy.run(replica, args=next(batches))

        batches = iter(self.coordinator.create_per_worker_dataset(self.data))
        for _ in range(4):
            self.coordinator.schedule(step, args=(batches,))
            self.coordinator.join()
        weights: list[Any] = model.get_weights()
        return weights

    def fit(self) -> str:
        """What Monitor says of a `fit`."""
        with self.strategy.scope():
            model = self.model()
            model.compile("sgd", "mse")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            data = keras.utils.experimental.DatasetCreator(self.data)
            model.fit(data, steps_per_epoch=4, verbose=0, callbacks=[wg.Monitor()])
        return said.getvalue()

    def refused(self, wrap: Any) -> str:
        with self.strategy.scope():
            try:
                wrap(keras.optimizers.SGD(0.01))
            except WhygradError as error:
                return str(error)
        return ""


def main(resolver: Any) -> dict[str, Any]:
    chief = Chief(resolver)
    bare = chief.loop()
    with wg.watch() as healthy:
        watched = chief.loop()
    with wg.watch() as broken:
        chief.loop(stopped=True)
    lines = Path(__file__).read_text().splitlines()
    return {
        "bits kept": all(np.array_equal(a, b) for a, b in zip(bare, watched, strict=True)),
        "healthy": [each.rule for each in healthy.report().diagnostics],
        "broken": [
            [each.rule, lines[each.primary.span.line - 1].strip()]
            for each in broken.report().diagnostics
            if each.primary is not None
        ],
        "fit": chief.fit(),
        "accumulate": chief.refused(lambda optimizer: wg.accumulate(optimizer, 2)),
        "guard": chief.refused(wg.guard),
    }


if __name__ == "__main__":
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        tf.distribute.Server(
            resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc"
        ).join()
    print(json.dumps(main(resolver)))
