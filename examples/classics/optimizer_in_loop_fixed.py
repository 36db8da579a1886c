"""A training step as a function, which makes all that it needs."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((256, 5))
y = x[:, :1] * x[:, 1:2]
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


def train_step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(inputs, training=True) - targets) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(4):
    for inputs, targets in batches:
        loss = train_step(inputs, targets)
    print(f"epoch {epoch}  loss {float(loss):.3f}")
