# case: mixed_precision_loop
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: scale_loss in the tape and apply_gradients that unscales
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)


def build():
    policy = keras.DTypePolicy("mixed_float16")
    inputs = keras.Input((10,), dtype="float32")
    x = layers.Dense(32, activation="relu", dtype=policy)(inputs)
    x = layers.LayerNormalization(dtype=policy)(x)
    x = layers.Dense(32, activation="relu", dtype=policy)(x)
    return keras.Model(inputs, layers.Dense(1, dtype="float32")(x))


model = build()
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(2e-3), initial_scale=2.0 ** 10)
loss_fn = keras.losses.Huber()
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = loss_fn(y, pred)
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def make_dataset(n=320):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(n, 10)).astype("float32")
    y = (x[:, :1] - 0.5 * x[:, 1:2] * x[:, 2:3]).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n, seed=3).batch(32)


dataset = make_dataset()
for epoch in range(8):
    mean = np.mean([float(train_step(x, y)) for x, y in dataset])
    if epoch % 2 == 0:
        print(epoch, mean)
print("kernel dtype", model.trainable_variables[0].dtype, "updates", int(optimizer.iterations))
