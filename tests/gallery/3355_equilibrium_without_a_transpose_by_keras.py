# case: equilibrium_without_a_transpose_by_keras
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 34  36  30  27  26
# expect_variables: deq/state_kernel, deq/input_kernel, deq/bias
# symptom_today: it trains, but slower and worse than the unrolled network; the gradient differs from that of the unrolled iteration
# exit: 0
# fix: multiply by the transpose in the backward iteration, tf.matmul(v * slope, w, transpose_b=True)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)


def iterate(drive, w, n):
    z = tf.zeros_like(drive)
    for _ in range(n):
        z = tf.tanh(tf.matmul(z, w) + drive)
    return z


def make_equilibrium(n_forward, n_backward):
    @tf.custom_gradient
    def equilibrium(drive, w):
        z = iterate(drive, w, n_forward)

        def grad(upstream):
            slope = 1.0 - tf.square(z)
            v = upstream
            for _ in range(n_backward):
                v = upstream + tf.matmul(v * slope, w)
            local = v * slope
            return local, tf.matmul(z, local, transpose_a=True)

        return z, grad

    return equilibrium


class ImplicitLayer(keras.layers.Layer):
    def __init__(self, units, n_forward=30, n_backward=30, **kw):
        super().__init__(**kw)
        self.units = units
        self.solve = make_equilibrium(n_forward, n_backward)

    def build(self, shape):
        self.input_kernel = self.add_weight(
            name="input_kernel", shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.state_kernel = self.add_weight(
            name="state_kernel", shape=(self.units, self.units),
            initializer=keras.initializers.Orthogonal(gain=0.8))
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def drive(self, x):
        return tf.matmul(x, tf.convert_to_tensor(self.input_kernel)) + self.bias

    def call(self, x):
        return self.solve(self.drive(x), tf.convert_to_tensor(self.state_kernel))


def make_data(n=512, seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = (np.sin(x[:, :1]) * x[:, 1:2] + 0.5 * np.tanh(x[:, 2:3] - x[:, 3:4])).astype("float32")
    return x, y


def build():
    inp = keras.Input((6,))
    z = ImplicitLayer(16, name="deq")(inp)
    out = keras.layers.Dense(1, name="readout")(z)
    return keras.Model(inp, out)


x, y = make_data()
model = build()
before = [w.numpy() for w in model.trainable_variables]
model.compile(keras.optimizers.Adam(5e-3), loss="mse")
log = model.fit(x, y, batch_size=64, epochs=6, verbose=0)
print("mse", log.history["loss"][0], "->", log.history["loss"][-1])
assert log.history["loss"][-1] < log.history["loss"][0]
assert all(np.abs(a - b.numpy()).max() > 0 for a, b in zip(before, model.trainable_variables))

layer, head = model.get_layer("deq"), model.get_layer("readout")
xb, yb = tf.constant(x[:64]), tf.constant(y[:64])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(xb) - yb))
implicit = tape.gradient(loss, layer.trainable_variables)
with tf.GradientTape() as tape:
    z = iterate(layer.drive(xb), tf.convert_to_tensor(layer.state_kernel), 60)
    loss = tf.reduce_mean(tf.square(head(z) - yb))
unrolled = tape.gradient(loss, layer.trainable_variables)
for v, a, b in zip(layer.trainable_variables, implicit, unrolled):
    rel = float(tf.norm(a - b) / tf.norm(b))
    print("%-24s relative difference to the unrolled gradient %.3f" % (v.path, rel))
    assert rel > 0.2
