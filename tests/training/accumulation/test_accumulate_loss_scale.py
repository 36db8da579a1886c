"""`accumulate` with loss scaling and mixed precision, and what becomes of a NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from keras_pair import Kit, examples, train, updates_of, weights
from training.accumulation.big_batch import distance
from whygrad.errors import AccumulationError, AccumulationWarning

pytestmark = pytest.mark.tensorflow


def accumulate(optimizer: Any, steps: int = 3, **options: Any) -> Any:
    from whygrad.training.accumulation.accumulate import accumulate

    return accumulate(optimizer, steps, **options)


def scaled(kit: Kit, **options: Any) -> Any:
    return kit.loss_scaled(kit.keras.optimizers.SGD(0.1, momentum=0.9), **{"initial_scale": 1024.0, **options})


def scale_of(optimizer: Any) -> float:
    return float(np.asarray(optimizer.loss_scale if hasattr(optimizer, "loss_scale") else optimizer.dynamic_scale))


def spoiled(row: int) -> tuple[np.ndarray, np.ndarray]:
    """48 examples, one of which makes the gradient infinite."""
    x, y = examples(48)
    x[row] = np.inf
    return x, y


def test_the_scale_grows_with_updates_as_the_big_batchs_does(kit: Kit) -> None:
    x, y = examples(48)
    start = weights(kit.model())
    big = train(kit.model(), scaled(kit, dynamic_growth_steps=2), x, y, batch_size=24, epochs=3)

    small = train(kit.model(), accumulate(scaled(kit, dynamic_growth_steps=2)), x, y, batch_size=8, epochs=3)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert scale_of(small.optimizer) == scale_of(big.optimizer) == 8192.0


def test_a_nan_leaves_out_its_window_as_it_would_the_big_batch(kit: Kit) -> None:
    x, y = spoiled(row=30)
    start = weights(kit.model())
    big = train(kit.model(), scaled(kit), x, y, batch_size=24)

    with pytest.warns(AccumulationWarning) as caught:
        small = train(kit.model(), accumulate(scaled(kit)), x, y, batch_size=8)

    assert distance(weights(small), weights(big), start) <= 1e-6
    assert scale_of(small.optimizer) == scale_of(big.optimizer) == 256.0
    assert small.optimizer.dropped == 6
    assert [str(warning.message) for warning in caught] == [
        "3 micro-batches were left out of the updates: a gradient in their window was not finite; "
        f"the loss scale is now {scale}"
        for scale in (512, 256)
    ]


def test_a_nan_leaves_out_its_micro_batch_alone_if_asked(kit: Kit) -> None:
    x, y = spoiled(row=34)  # in the middle of a window: what it has collected is in the old scale
    kept = np.r_[0:32, 40:48]
    start = weights(kit.model())
    first = train(kit.model(), kit.keras.optimizers.SGD(0.1, momentum=0.9), x[kept], y[kept], batch_size=24, epochs=1)

    with pytest.warns(AccumulationWarning) as caught:
        small = train(kit.model(), accumulate(scaled(kit), nonfinite="microbatch"), x, y, batch_size=8, epochs=1)

    assert distance(weights(small), weights(first), start) <= 1e-6
    assert scale_of(small.optimizer) == 512.0
    assert small.optimizer.dropped == 1
    assert updates_of(small.optimizer) == 2
    assert str(caught[0].message) == (
        "1 micro-batches were left out of the updates: their gradients were not finite; the loss scale is now 512"
    )


@pytest.mark.filterwarnings("ignore::whygrad.errors.AccumulationWarning")
def test_a_window_of_nothing_but_nan_updates_nothing(kit: Kit) -> None:
    x, y = examples(24)
    x[:] = np.inf
    start = weights(kit.model())

    small = train(kit.model(), accumulate(scaled(kit), nonfinite="microbatch"), x, y, batch_size=8, epochs=1)

    assert all(np.array_equal(a, b) for a, b in zip(weights(small), start, strict=True))
    assert updates_of(small.optimizer) == 0
    assert scale_of(small.optimizer) == 128.0


def test_without_loss_scaling_a_nan_can_be_left_out_too(kit: Kit) -> None:
    x, y = spoiled(row=30)
    kept = np.r_[0:24, 32:48]
    start = weights(kit.model())
    first = train(kit.model(), kit.keras.optimizers.Adam(0.01), x[kept], y[kept], batch_size=24, epochs=1)

    optimizer = accumulate(kit.keras.optimizers.Adam(0.01), nonfinite="microbatch")
    with pytest.warns(AccumulationWarning, match="1 micro-batches were left out"):
        small = train(kit.model(), optimizer, x, y, batch_size=8, epochs=1)

    assert distance(weights(small), weights(first), start) <= 1e-6


@pytest.mark.parametrize("inside", [True, False], ids=["around a loss scale", "inside compile's own"])
def test_mixed_float16_trains_as_the_big_batch_does(kit: Kit, inside: bool) -> None:
    policy = kit.policy("mixed_float16")

    def model() -> Any:
        kit.keras.mixed_precision.set_global_policy("mixed_float16")
        try:
            return kit.model(kit.dense(5, activation="tanh", dtype=policy), kit.dense(2, dtype="float32"))
        finally:
            kit.keras.mixed_precision.set_global_policy("float32")

    def adam() -> Any:
        return kit.keras.optimizers.Adam(0.01)

    x, y = (array.astype("float32") for array in examples(48))
    start = weights(model())
    big = train(model(), adam(), x, y, batch_size=24)
    small = train(model(), accumulate(kit.loss_scaled(adam()) if inside else adam()), x, y, batch_size=8)

    assert isinstance(small.optimizer, kit.scaling_class)
    assert hasattr(small.optimizer, "accumulation") == inside
    assert distance(weights(small), weights(big), start) <= 0.01  # float16 in between
    assert updates_of(small.optimizer) == 4


def test_half_precision_gradients_can_be_summed_in_float32(kit: Kit) -> None:
    x, y = (array.astype("float16") for array in examples(48))

    def model() -> Any:
        return kit.model(kit.dense(2, dtype="float16"))

    optimizer = accumulate(kit.keras.optimizers.SGD(0.1), buffer_dtype="float32")
    train(model(), optimizer, x, y, batch_size=8)

    assert {buffer.total.dtype.name for buffer in optimizer.window.buffers} == {"float32"}


def test_gradients_summed_over_replicas_are_refused(tf: Any, tf_keras: Any) -> None:
    with tf.distribute.OneDeviceStrategy("CPU:0").scope():
        v = tf.Variable([1.0])
        optimizer = accumulate(tf_keras.optimizers.SGD(), weight="equal")

        with pytest.raises(AccumulationError) as caught:
            optimizer.apply_gradients([(tf.ones([1]), v)], skip_gradients_aggregation=True)

    assert str(caught.value) == (
        "gradients that were summed over the replicas cannot be accumulated on each of them\n"
        "help: wrap the other way round: wg.accumulate(LossScaleOptimizer(optimizer), steps=...)"
    )
