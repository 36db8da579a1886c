"""What the facts about targets, predictions and layers add to watching, after the first ten steps.

    python benchmarks/learning_facts.py [--pairs 15]

Steps with them and without them, in turns in one process, each on a model that was made and warmed up while watched.
Each figure is the median of paired ratios with its quartiles; the null compares without and without.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from overhead import timed, with_and_without
from record import record

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

FIRST = 17  # steps that are not timed: the facts look at the first ones, and at step 16


@contextlib.contextmanager
def watched(*, facts: bool) -> Iterator[None]:
    """Watching as `wg.watch()` does; without the facts, what they hear of does nothing."""
    from whygrad.backends.tensorflow.keras.by_hand import ByHand
    from whygrad.backends.tensorflow.keras.layer_chain import LayerChain
    from whygrad.backends.tensorflow.keras.objectives import Objectives
    from whygrad.watch import Run

    heard = [(Objectives, name) for name in ("compared", "called", "began", "step_ran")] + [
        (LayerChain, "called"),
        (ByHand, "note"),
    ]
    kept = [(home, name, getattr(home, name)) for home, name in heard]
    for home, name, _ in kept if not facts else ():
        setattr(home, name, lambda *_, **__: None)
    run = Run(None, None)
    run._start()
    try:
        yield
    finally:
        run._watcher.stop()
        for home, name, method in kept:
            setattr(home, name, method)


def compiled_step() -> Callable[[], object]:
    """A step of `fit`'s kind: a model of three layers, a loss object, Adam."""
    step, data = _step()
    import tensorflow as tf

    function = tf.function(step)
    return lambda: function(*data)


def eager_step() -> Callable[[], object]:
    step, data = _step()
    return lambda: step(*data)


def _step() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    import keras
    import tensorflow as tf

    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((64,)), layers.Dense(256, "relu"), layers.Dense(256, "relu"), layers.Dense(10, "softmax")]
    )
    optimizer, loss_of = keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy()
    optimizer.build(model.trainable_variables)
    x = tf.random.normal((128, 64), seed=0)
    y = tf.random.uniform((128,), maxval=10, dtype=tf.int32, seed=1)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return loss

    return step, (x, y)


def measured(make: Callable[[], Callable[[], object]], count: int, *, facts: bool) -> float:
    with watched(facts=facts):
        step = make()
        timed(step, FIRST)
        return timed(step, count)


def compare(name: str, make: Callable[[], Callable[[], object]], count: int, pairs: int) -> None:
    figure = with_and_without(lambda used: measured(make, count, facts=used), pairs)
    print(f"{name}: {figure}")
    record(f"facts about learning, {name}", figure, "none measurable", "python benchmarks/learning_facts.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    compare("compiled step", compiled_step, 200, options.pairs)
    compare("eager step", eager_step, 40, options.pairs)


if __name__ == "__main__":
    main()
