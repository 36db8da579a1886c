"""A variational autoencoder whose KL term is warmed up: its weight grows from 0 to 1."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((256, 3)) @ tf.random.normal((3, 8))
batches = tf.data.Dataset.from_tensor_slices(x).batch(64)

encoder = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(4)])
decoder = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(8)])
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(0.01)
kl_weight = 0.0


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        mean, log_variance = tf.split(encoder(batch, training=True), 2, axis=1)
        code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
        error = tf.reduce_mean((decoder(code, training=True) - batch) ** 2)
        kl = 0.5 * tf.reduce_mean(mean**2 + tf.exp(log_variance) - 1.0 - log_variance)
        loss = error + kl_weight * kl
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return error, kl


for epoch in range(10):
    for batch in batches:
        error, kl = train_step(batch)
    kl_weight = min(1.0, kl_weight + 0.2)
    print(f"epoch {epoch}  error {float(error):.2f}  KL {float(kl):.2f}  weight {float(kl_weight):.1f}")
