# case: fixed_point_layer_fit
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the fixed point is solved outside the gradient, and the backward pass solves the adjoint equation
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)

# A steady state z = tanh(W z + U x + b) of a small circuit. The forward solve is not recorded;
# one more application of the cell carries the parameters, and a hook on its output turns the
# incoming gradient g into the solution v of v = g + J^T v (implicit function theorem).
UNITS, INPUTS = 10, 6


class SteadyState(layers.Layer):
    def __init__(self, units, forward_steps=40, backward_steps=40, **kwargs):
        super().__init__(**kwargs)
        self.units, self.forward_steps, self.backward_steps = units, forward_steps, backward_steps

    def build(self, shape):
        small = keras.initializers.RandomNormal(stddev=0.4 / np.sqrt(self.units), seed=1)
        self.recurrent = self.add_weight(shape=(self.units, self.units), initializer=small, name="recurrent")
        self.inward = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="inward")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def cell(self, z, x):
        return tf.tanh(tf.matmul(z, self.recurrent) + tf.matmul(x, self.inward) + self.bias)

    def solve(self, x):
        z = tf.zeros([tf.shape(x)[0], self.units])
        for _ in range(self.forward_steps):
            z = self.cell(z, x)
        return tf.stop_gradient(z)

    def call(self, x):
        z_star = self.solve(x)
        with tf.GradientTape(persistent=True) as local:
            local.watch(z_star)
            once_more = self.cell(z_star, x)

        @tf.custom_gradient
        def adjoint_hook(z):
            def grad(g):
                v = g
                for _ in range(self.backward_steps):
                    v = g + local.gradient(once_more, z_star, output_gradients=v)
                return v

            return tf.identity(z), grad

        return adjoint_hook(self.cell(z_star, x))

    def unrolled(self, x, steps=80):
        z = tf.zeros([tf.shape(x)[0], self.units])
        for _ in range(steps):
            z = self.cell(z, x)
        return z


def circuit_data(n=320, seed=2):
    rng = np.random.default_rng(seed)
    w, u = rng.normal(scale=0.15, size=(4, 4)), rng.normal(scale=0.6, size=(INPUTS, 4))
    x, z = rng.normal(size=(n, INPUTS)), np.zeros((n, 4))
    for _ in range(200):
        z = np.tanh(z @ w + x @ u)
    return x.astype("float32"), (z @ rng.normal(size=(4, 2))).astype("float32")


def build_model():
    x = keras.Input((INPUTS,))
    z = SteadyState(UNITS, name="steady")(x)
    return keras.Model(x, layers.Dense(2, name="readout")(z))


x, y = circuit_data()
model = build_model()
steady, readout = model.get_layer("steady"), model.get_layer("readout")

with tf.GradientTape(persistent=True) as tape:
    implicit = tf.reduce_mean(tf.square(model(x[:32], training=True) - y[:32]))
    unrolled = tf.reduce_mean(tf.square(readout(steady.unrolled(tf.constant(x[:32]))) - y[:32]))
for weight in model.trainable_variables:
    a, b = tape.gradient(implicit, weight.value), tape.gradient(unrolled, weight.value)
    assert float(tf.norm(a - b)) < 1e-3 * float(tf.norm(b)) + 1e-6, weight.path
print("implicit and unrolled gradients agree")

start = [w.numpy() for w in model.trainable_variables]
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
history = model.fit(x[:256], y[:256], validation_data=(x[256:], y[256:]), batch_size=32, epochs=12, verbose=0).history
print("loss %.4f -> %.4f, validation %.4f" % (history["loss"][0], history["loss"][-1], history["val_loss"][-1]))
assert history["loss"][-1] < 0.15 * history["loss"][0] and history["val_loss"][-1] < 0.3 * history["val_loss"][0]
assert all(np.abs(w.numpy() - s).max() > 1e-3 for w, s in zip(model.trainable_variables, start))
