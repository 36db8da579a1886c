# case: flow_networks_inside_closures
# verdict: bug
# cause: untracked-variable
# expect_line: 30 36 40 46 56 76 77 78 79 86
# expect_variables: *st_hidden/kernel, *st_hidden/bias, *st_out/kernel, *st_out/bias
# symptom_today: only the final loc and log_scale learn; the eight weights of each coupling network are not among flow.trainable_variables and never move
# exit: 0
# fix: keep the Keras networks themselves as attributes (a list of models) instead of functions that hide them
# source: GitHub tensorflow probability issue 1439 and tensorchiefs dl_book issue 16 (RealNVP template shows no trainable variables)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)


def crescents(n):
    rng = np.random.default_rng(12)
    x = rng.normal(size=n)
    y = 0.5 * x ** 2 - 0.5 + 0.15 * rng.normal(size=n)
    pts = np.stack([x, y], axis=1)
    return ((pts - pts.mean(0)) / pts.std(0)).astype("float32")


def shift_and_scale_template(hidden, block):
    net = keras.Sequential([
        keras.Input((1,)),
        layers.Dense(hidden, activation="tanh", name="st_hidden"),
        layers.Dense(2, kernel_initializer="zeros", name="st_out"),
    ], name=f"coupling_{block}")

    def shift_and_log_scale(x):
        s, t = tf.split(net(x), 2, axis=1)
        return tf.tanh(s), t

    return shift_and_log_scale


class CouplingFlow(keras.Model):
    def __init__(self, blocks=4, hidden=32):
        super().__init__()
        self.couplings = [shift_and_scale_template(hidden, b) for b in range(blocks)]
        self.loc = self.add_weight(name="loc", shape=(2,), initializer="zeros")
        self.log_scale = self.add_weight(name="log_scale", shape=(2,), initializer="zeros")

    def call(self, x):
        """Data to noise, with the log-determinant of the way."""
        z = (x - self.loc) * tf.exp(-self.log_scale)
        logdet = -tf.reduce_sum(self.log_scale) * tf.ones([tf.shape(x)[0]])
        keep, change = tf.split(z, 2, axis=1)
        for coupling in self.couplings:
            s, t = coupling(keep)
            change = change * tf.exp(s) + t
            logdet += tf.squeeze(s, axis=1)
            keep, change = change, keep
        return tf.concat([keep, change], axis=1), logdet


def nll(flow, x):
    z, logdet = flow(x)
    base = -0.5 * tf.reduce_sum(tf.square(z) + np.log(2 * np.pi).astype("float32"), axis=1)
    return -tf.reduce_mean(base + logdet)


class FlowTrainer:
    def __init__(self, flow, lr=5e-3):
        self.flow, self.opt = flow, keras.optimizers.Adam(lr)

    @tf.function
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = nll(self.flow, x)
        variables = self.flow.trainable_variables
        grads = tape.gradient(loss, variables)
        self.opt.apply_gradients(zip(grads, variables))
        return loss


points = crescents(1024) * np.array([1.5, 0.7], "float32") + np.array([0.5, -0.5], "float32")
flow = CouplingFlow()
flow(points[:2])
trainer = FlowTrainer(flow)
ds = tf.data.Dataset.from_tensor_slices(points).shuffle(1024, seed=2).batch(128)
curve = []
for epoch in range(25):
    curve.append(float(np.mean([trainer.step(b).numpy() for b in ds])))
print("nll", np.round(curve[::6], 3))
names = [v.name for v in flow.trainable_variables]
print("learned:", names)

# what a full covariance-free Gaussian reaches; a working flow is far below
sd = points.std(0)
gauss = float(np.sum(np.log(sd)) + np.log(2 * np.pi) + 1.0)
assert names == ["loc", "log_scale"]
assert curve[-1] > gauss - 0.02
hidden_nets = [c.__closure__[0].cell_contents for c in flow.couplings]
assert all(not n.layers[-1].kernel.numpy().any() for n in hidden_nets)
