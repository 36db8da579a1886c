# case: dose_response_bayes
# verdict: bug
# cause: missing-loss-term
# expect_line: 78 79
# expect_variables: -
# symptom_today: the fit is good, but the error bars are tiny even where there are no data; sigma only shrinks and the divergence from the prior grows
# exit: 0
# fix: add tf.add_n(net.losses) to the negative log-likelihood inside the tape
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(46)

CFG = {"rows": 40, "batch": 20, "epochs": 500, "lr": 1e-2, "noise": 0.15, "prior_scale": 1.0, "samples": 200}


class VariationalDense(layers.Layer):
    """Bayes by backprop: Gaussian posterior per weight, divergence from the prior as an added loss."""

    def __init__(self, units, rows, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.rows = units, rows
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        size = (int(shape[-1]) + 1, self.units)
        self.mu = self.add_weight(shape=size, initializer="glorot_normal", name="mu")
        self.rho = self.add_weight(shape=size, initializer=keras.initializers.Constant(-3.0), name="rho")

    def divergence(self):
        sigma, prior = tf.nn.softplus(self.rho), CFG["prior_scale"]
        ratio = tf.square(sigma / prior)
        return 0.5 * tf.reduce_sum(ratio + tf.square(self.mu / prior) - 1.0 - tf.math.log(ratio))

    def call(self, x):
        noise = tf.random.normal(tf.shape(self.mu))
        w = self.mu + tf.nn.softplus(self.rho) * noise
        self.add_loss(self.divergence() / self.rows)
        return self.activation(tf.matmul(x, w[:-1]) + w[-1])


def dose_response(seed):
    """Responses at low and at high doses; nothing was measured in between."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-2.0, -0.8, CFG["rows"] // 2)
    high = rng.uniform(0.8, 2.0, CFG["rows"] // 2)
    dose = np.concatenate([low, high])
    response = np.tanh(1.5 * dose) + 0.3 * np.sin(3 * dose) + CFG["noise"] * rng.normal(size=dose.shape)
    return dose[:, None].astype("float32"), response[:, None].astype("float32")


def gaussian_nll(y, mean):
    z = (y - mean) / CFG["noise"]
    return tf.reduce_mean(0.5 * tf.square(z) + np.log(CFG["noise"] * np.sqrt(2 * np.pi)))


def build_network():
    return keras.Sequential([
        keras.Input((1,)),
        VariationalDense(24, CFG["rows"], activation="tanh", name="vi1"),
        VariationalDense(1, CFG["rows"], name="vi2"),
    ], name="posterior")


net = build_network()
optimizer = keras.optimizers.Adam(CFG["lr"])
optimizer.build(net.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        mean = net(x, training=True)
        loss = gaussian_nll(y, mean)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def total_divergence():
    return sum(float(layer.divergence()) for layer in net.layers)


def mean_sigma():
    return float(np.mean(np.concatenate([tf.nn.softplus(l.rho).numpy().ravel() for l in net.layers])))


dose, response = dose_response(seed=5)
ds = tf.data.Dataset.from_tensor_slices((dose, response)).shuffle(200, seed=3).batch(CFG["batch"])
kl_start, sigma_start = total_divergence(), mean_sigma()
losses = []
for epoch in range(CFG["epochs"]):
    losses.append(np.mean([float(train_step(x, y)) for x, y in ds]))
    if epoch % 100 == 0 or epoch == CFG["epochs"] - 1:
        print(f"epoch {epoch:3d}  nll {losses[-1]:7.3f}  KL {total_divergence():.1f}  mean sigma {mean_sigma():.3f}")

gap = tf.zeros((1, 1))
band = np.std([float(net(gap)[0, 0]) for _ in range(CFG["samples"])])
print(f"spread of the prediction in the gap: {band:.3f} (noise of one measurement: {CFG['noise']})")

# the term is there, and it would change the gradient of every rho
x, y = next(iter(ds))
with tf.GradientTape() as tape:
    net(x, training=True)
    prior = tf.add_n(net.losses)
pull = tape.gradient(prior, [layer.rho for layer in net.layers])
print("added losses:", [round(float(v), 3) for v in net.losses])
assert len(net.losses) == 2 and all(float(tf.reduce_max(tf.abs(g))) > 1e-4 for g in pull)
assert losses[-1] < 0.5 * losses[0]
assert total_divergence() > 1.1 * kl_start and mean_sigma() < 0.8 * sigma_start and band < 0.1
