"""Watching changes nothing: the same bits come out."""

from __future__ import annotations

from pathlib import Path

import pytest

from functional import warm
from functional.command import whygrad

PROGRAM = """
import hashlib
import numpy as np
import tensorflow as tf
import keras


def network():
    return keras.Sequential([
        keras.layers.Input((6,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1),
    ])


def digest(model):
    return hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest()


rng = np.random.default_rng(1)
x = rng.normal(size=(96, 6)).astype("float32")
y = x.sum(1, keepdims=True)


def loop(compiled):
    keras.utils.set_random_seed(7)
    model, optimizer = network(), keras.optimizers.Adam(1e-2)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=3).batch(16)

    def step(xb, yb):
        with tf.GradientTape() as tape:
            noise = tf.random.normal(tf.shape(xb), stddev=0.1)
            loss = tf.reduce_mean(tf.square(model(xb + noise, training=True) - yb)) + tf.add_n(model.losses or [0.0])
        gradients = tape.gradient(loss, model.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    if compiled:
        optimizer.build(model.trainable_variables)
        step = tf.function(step)
    losses = [float(step(xb, yb)).hex() for _ in range(3) for xb, yb in data]
    print("compiled" if compiled else "eager", digest(model), losses)


def epochs():
    # a loop over a data set inside of a function: the data set runs it
    keras.utils.set_random_seed(7)
    model = network()
    schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, 10, 0.9)
    optimizer, loss_of = keras.optimizers.Adam(schedule), keras.losses.MeanSquaredError()
    optimizer.build(model.trainable_variables)

    @tf.function
    def epoch(data):
        total = 0.0
        for xb, yb in data:
            with tf.GradientTape() as tape:
                loss = loss_of(yb, model(xb, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            total += loss
        return total

    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=3).batch(16)
    print("epochs", digest(model), [float(epoch(data)).hex() for _ in range(3)], digest(model))


def fit():
    keras.utils.set_random_seed(7)
    model = network()
    model.compile(keras.optimizers.Adam(1e-2), "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=16, epochs=3, shuffle=True, verbose=0).history
    print("fit", digest(model), [v.hex() for v in history["loss"] + history["mae"]])


def classify(jit, several):
    # predictions and labels leave the step through variables of ours
    keras.utils.set_random_seed(7)
    images = rng.normal(size=(96, 6, 6, 1)).astype("float32")
    labels = images.sum((1, 2, 3)).argsort() % 3
    model = keras.Sequential([
        keras.layers.Input((6, 6, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(3, activation="softmax"),
    ])
    loss = keras.losses.SparseCategoricalCrossentropy()
    model.compile("rmsprop", loss, metrics=["accuracy"], jit_compile=jit, steps_per_execution=several)
    data = tf.data.Dataset.from_tensor_slices((images[:80], labels[:80])).shuffle(80, seed=3).batch(16)
    held = tf.data.Dataset.from_tensor_slices((images[80:], labels[80:])).batch(16)
    if keras.__version__.startswith("3.3."):  # which fails where a validation is shorter than an execution
        held = held.repeat(several)
    history = model.fit(data, validation_data=held, epochs=3, verbose=0).history
    print("classify", jit, several, digest(model), [v.hex() for v in history["loss"] + history["val_loss"]])


def small():
    # XLA rounds what it computes differently when somebody else, or a branch, reads it too
    layers = keras.layers
    for optimizer, width, rows, inner in (
        (keras.optimizers.RMSprop(global_clipnorm=0.5), 300, 1, [layers.Dense(200, "tanh", kernel_regularizer="l1")]),
        (keras.optimizers.AdamW(), 40, 2, [layers.Dense(8), layers.BatchNormalization(), layers.Dense(1)]),
    ):
        keras.utils.set_random_seed(7)
        norm = layers.LayerNormalization() if rows == 1 else layers.BatchNormalization()
        model = keras.Sequential([layers.Input((width,)), *inner, norm, layers.Dense(5)])
        model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)
        data = rng.normal(size=(10 * rows, width)).astype("float32"), rng.integers(0, 5, 10 * rows)
        losses = model.fit(*data, batch_size=rows, epochs=3, verbose=0).history["loss"]
        print("small", width, digest(model), [v.hex() for v in losses])


loop(False)
loop(True)
epochs()
fit()
classify(False, 1)
classify(False, 3)
classify(True, 1)
small()
print("after", np.random.random(), float(tf.random.uniform(())), keras.random.uniform(()).numpy())
"""


@pytest.mark.tensorflow
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without_watching(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM)

    bare = warm.python(tmp_path, "train.py")
    watched = whygrad(tmp_path, "run", "train.py")  # in a process of its own: TensorFlow is imported under watch

    assert bare.status == watched.status == 0, watched.err
    assert len(bare.out.splitlines()) == 10
    assert watched.out == bare.out
    assert "no problem found" in watched.err
