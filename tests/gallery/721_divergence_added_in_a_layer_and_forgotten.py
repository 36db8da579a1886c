# case: divergence_added_in_a_layer_and_forgotten
# verdict: bug; static: no
# cause: missing-loss-term
# expect_line: 36 37
# expect_variables: sampling.add_loss (only the reconstruction pulls on log_var/*)
# symptom_today: silent: the divergence in model.losses is never minimised
# exit: 0
# fix: loss += tf.add_n(vae.losses)
# seen: sampling layers with add_loss in a hand-written loop
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)


class Sampling(keras.layers.Layer):
    def call(self, parts):
        mean, log_var = parts
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + log_var - mean**2 - tf.exp(log_var), axis=-1))
        self.add_loss(kl)
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


x_in = keras.Input((10,))
h = keras.layers.Dense(16, activation="relu")(x_in)
z = Sampling()([keras.layers.Dense(2, name="mean")(h), keras.layers.Dense(2, name="log_var")(h)])
vae = keras.Model(x_in, keras.layers.Dense(10)(keras.layers.Dense(16, activation="relu")(z)))
opt = keras.optimizers.Adam(0.01)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        decoded = vae(x, training=True)
        loss = tf.reduce_mean(tf.reduce_sum(tf.square(decoded - x), axis=-1))
    grads = tape.gradient(loss, vae.trainable_variables)
    opt.apply_gradients(zip(grads, vae.trainable_variables))
    return loss


x = tf.random.normal((64, 10), seed=2)
vae(x)
start = float(vae.losses[0])
for _ in range(60):
    train_step(x)
vae(x)
print("divergence", start, "->", float(vae.losses[0]))
assert float(vae.losses[0]) > start
