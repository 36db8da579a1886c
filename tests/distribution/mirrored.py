"""Run by test_mirrored.py in a process of its own: logical devices must be made before TensorFlow starts.

One strategy of two logical CPUs trains a network in every way that whygrad takes part in. Prints, as JSON, what was
found; arrays are compared here.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import whygrad as wg

BATCH, EXAMPLES = 16, 64
SPOILT = BATCH + 10  # an example of the second batch, on the second replica


def same(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def distance(one: list[Any], other: list[Any]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


class Trainings:
    """The same network, trained by `fit` or by a loop, on one device or on two."""

    def __init__(self, keras: Any, strategy: Any, folder: str) -> None:
        self.keras, self.strategy, self.folder = keras, strategy, folder
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=(EXAMPLES, 4)).astype("float32")
        self.y = self.x.sum(1, keepdims=True)
        self.bad = self.y.copy()
        self.bad[SPOILT] = np.nan
        self.alone = tf.distribute.get_strategy()
        self.bare: list[Any] = []

    def model(self, *layers: Any) -> Any:
        make = self.keras.layers
        start = self.keras.initializers.RandomNormal(seed=1)
        inner = layers or (make.Dense(8, "relu", kernel_initializer=start), make.BatchNormalization())
        return self.keras.Sequential([make.Input((4,)), *inner, make.Dense(1, kernel_initializer=start)])

    def fit(
        self, optimizer: Callable[[], Any], y: Any = None, *, on: Any = None, without: int = -1, **monitor: Any
    ) -> Any:
        """The trained model, and its Monitor."""
        self.keras.backend.clear_session()
        with self.strategy.scope():
            model = self.model()
            model.compile(optimizer(), "mse", jit_compile=False)
        kept = np.array([i for i in range(EXAMPLES) if i // BATCH != without])
        callbacks = [wg.Monitor(folder=self.folder, **monitor)] if monitor else []
        y = self.y if y is None else y
        model.fit(self.x[kept], y[kept], batch_size=BATCH, verbose=0, shuffle=False, callbacks=callbacks)
        return model, callbacks[0] if callbacks else None

    def loop(
        self, optimizer: Callable[[], Any], *, batch: int, on: Any = None, forward: str = "plain", jit: bool = False
    ) -> Any:
        """Weights, and the function of a step, of a loop with `strategy.run`."""
        strategy = on or self.strategy
        self.keras.backend.clear_session()
        with strategy.scope():
            model = self.model(self.keras.layers.Dense(8, "tanh", kernel_initializer="ones"))
            own = optimizer()
            adding = isinstance(own, wg.Accumulator)
            applying = self.keras.optimizers.SGD(0.01) if adding else own
            applying.build(model.trainable_variables)
        hidden, last = model.layers[-2:]

        def gradients_of(x: Any, y: Any) -> Any:
            early = model(x)
            with tf.GradientTape() as tape:
                middle = tf.stop_gradient(hidden(x)) if forward == "stopped" else hidden(x)
                middle = tf.math.log(middle - 5.0) if forward == "not a number" else middle
                prediction = early if forward == "outside" else last(middle)
                loss = tf.nn.compute_average_loss((prediction - y)[:, 0] ** 2, global_batch_size=batch)
            return tape.gradient(loss, model.trainable_variables)

        asked = tf.function(gradients_of, jit_compile=True) if jit else gradients_of

        def step(x: Any, y: Any) -> None:
            gradients = asked(x, y)
            if adding:
                own.add(gradients, model.trainable_variables, weight=batch)
            elif hasattr(own, "accumulation"):
                own.apply_gradients(zip(gradients, model.trainable_variables, strict=True), weight=batch)
            elif forward != "outside":
                pairs = zip(gradients, model.trainable_variables, strict=True)
                own.apply_gradients([pair for pair in pairs if pair[0] is not None])

        @tf.function
        def train(x: Any, y: Any) -> None:
            strategy.run(step, args=(x, y))

        data = tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(batch, drop_remainder=True)
        for x, y in strategy.experimental_distribute_dataset(data):
            train(x, y)
            if adding and own.ready:
                own.apply(applying)
        return model.get_weights(), train.get_concrete_function(x, y).graph.as_graph_def()


def collectives(graph: Any) -> tuple[int, int]:
    """How many reductions a step always makes, and how many only in a branch."""
    inside = sum(node.op == "CollectiveReduceV2" for each in graph.library.function for node in each.node_def)
    return sum(node.op == "CollectiveReduceV2" for node in graph.node), inside


def fitting(trainings: Trainings) -> dict[str, Any]:
    """`Monitor`, `guard` and `watch` in `fit`, where all is well."""
    sgd = trainings.keras.optimizers.SGD
    bare, _ = trainings.fit(lambda: sgd(0.01, momentum=0.9))
    trainings.bare = bare.get_weights()
    with wg.watch() as run:
        two, monitor = trainings.fit(lambda: wg.guard(sgd(0.01, momentum=0.9)), closely_every=1, per_replica=True)
    tracks = [track.name for track in monitor.run.tracks()]
    here = monitor.run.everything(tracks[0])
    parts = [monitor.run.everything(name) for name in tracks[1:]]
    last = here.variables[-1].channels
    of_parts = sum(each.variables[-1].channels["sum"].astype(float) for each in parts)
    return {
        "bits kept": same(two.get_weights(), trainings.bare),
        "said": [each.rule for each in run.report().diagnostics],
        "updates": run.report().run["updates"],
        "tracks": [name.partition(",")[2] for name in tracks],
        "steps": here.steps.tolist(),
        "loss of all": float(np.abs(here.scalars["loss"] - sum(part.scalars["loss"] for part in parts)).max()),
        "sum of all": float(np.abs(last["sum"] - of_parts).max()),
        "first update": float(np.abs(last["update_norm"][0] - 0.01 * np.abs(last["sum"][0]))),  # of one number
    }


def guarding(trainings: Trainings) -> dict[str, Any]:
    """`guard` in `fit`, with `Monitor`: what a bad example of one replica does to the update of both."""
    sgd, bad = trainings.keras.optimizers.SGD, trainings.bad

    def guarded(mode: str, **options: Any) -> Callable[[], Any]:
        return lambda: wg.guard(sgd(0.01, momentum=0.9), mode, **options)

    left_out, _ = trainings.fit(lambda: sgd(0.01, momentum=0.9), without=1)
    skipped, monitor = trainings.fit(guarded("skip"), bad, closely_every=1)
    back, _ = trainings.fit(guarded("rollback", keep_every=1), bad)
    (step,) = skipped.optimizer.bad_steps
    return {
        "skipped": same(skipped.get_weights(), left_out.get_weights()),
        "rolled back": same(back.get_weights(), left_out.get_weights()),
        "step": [step.step, list(step.replicas)],
        "report": skipped.optimizer.report().splitlines()[-1].partition(" on ")[2],
        "named": [[event.step, event.data["replicas"]] for event in monitor.run.events("not finite")],
    }


def looping(trainings: Trainings) -> dict[str, Any]:
    """Accumulation in loops, and how often replicas sum."""
    sgd = trainings.keras.optimizers.SGD
    big, bare = trainings.loop(lambda: sgd(0.01), batch=2 * BATCH)
    wrapped, accumulated = trainings.loop(lambda: wg.accumulate(sgd(0.01), 2), batch=BATCH)
    added, adding = trainings.loop(lambda: wg.Accumulator(2), batch=BATCH)
    return {
        "wrapped": distance(wrapped, big),
        "added": distance(added, big),
        "reductions": {"bare": collectives(bare), "wrapped": collectives(accumulated), "added": collectives(adding)},
    }


def sparse(trainings: Trainings) -> float:
    """How far `deduplicate` on two replicas is from one device."""
    keras, found = trainings.keras, []
    words = np.random.default_rng(0).integers(0, 6, size=(EXAMPLES, 3))
    for strategy in (trainings.alone, trainings.strategy):
        keras.backend.clear_session()
        with strategy.scope():
            start = keras.initializers.RandomNormal(seed=1)
            table = keras.layers.Embedding(6, 4, embeddings_initializer=start)
            last = keras.layers.Dense(1, kernel_initializer=start)
            model = keras.Sequential([keras.layers.Input((3,)), table, keras.layers.Flatten(), last])
            model.compile(wg.deduplicate(keras.optimizers.Adam(0.01)), "mse", jit_compile=False)
        model.fit(words, trainings.y, batch_size=BATCH, verbose=0, shuffle=False)
        found.append(model.get_weights())
    return distance(*found)


def watched(trainings: Trainings) -> dict[str, Any]:
    """What is said of loops, healthy and broken, and whether watching changed anything."""
    sgd, found = trainings.keras.optimizers.SGD, {}
    bare, _ = trainings.loop(lambda: sgd(0.01), batch=BATCH)
    for forward in ("plain", "stopped", "outside", "not a number"):
        with wg.watch() as run:
            weights, _ = trainings.loop(lambda: sgd(0.01), batch=BATCH, forward=forward)
        report = run.report()
        lines = Path(__file__).read_text().splitlines()
        loud = [each for each in report.diagnostics if each.severity.name != "NOTE"]
        found[forward] = [[each.rule, lines[each.primary.span.line - 1].strip()] for each in loud if each.primary]
        if forward == "plain":
            found["bits kept"] = same(weights, bare)
            found["updates"] = report.run["updates"]
    with wg.watch() as run:
        trainings.fit(lambda: sgd(0.01), trainings.bad)
    found["data"] = [[each.rule, *each.notes] for each in run.report().diagnostics]
    return found


def jitted(trainings: Trainings) -> dict[str, Any]:
    """Gradients that XLA compiles for each replica: a step with its update it cannot compile for two CPUs."""
    sgd, found = trainings.keras.optimizers.SGD, {}
    bare, _ = trainings.loop(lambda: sgd(0.01), batch=BATCH, jit=True)
    with wg.watch() as run:
        guarded, _ = trainings.loop(lambda: wg.guard(sgd(0.01)), batch=BATCH, jit=True)
    big, _ = trainings.loop(lambda: sgd(0.01), batch=2 * BATCH, jit=True)
    small, _ = trainings.loop(lambda: wg.accumulate(sgd(0.01), 2), batch=BATCH, jit=True)
    found["bits kept"], found["accumulated"] = same(bare, guarded), distance(small, big)
    with wg.watch() as broken:
        trainings.loop(lambda: sgd(0.01), batch=BATCH, forward="not a number", jit=True)
    found["said"] = [[each.rule for each in report.report().diagnostics] for report in (run, broken)]
    return found


def main(keras: Any, folder: str) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    keras.utils.set_random_seed(0)
    # One strategy for all: TensorFlow gives the collectives of a second one the numbers of the first.
    trainings = Trainings(keras, tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]), folder)
    rooms: list[Callable[[Trainings], Any]] = [fitting, guarding, looping, sparse, watched, jitted]
    return {room.__name__: room(trainings) for room in rooms}


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    if sys.argv[1] == "keras":
        import keras
    else:
        import tf_keras as keras
    print(json.dumps(main(keras, sys.argv[2])))
