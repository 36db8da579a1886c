# case: spiking_touch_sensor
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the spike is a step function, its gradient is a surrogate on purpose, and the reset is kept out of the gradient
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(61)

CFG = {"channels": 10, "time": 30, "hidden": 32, "classes": 3, "decay": 0.85, "slope": 5.0, "batch": 48, "epochs": 8}


def touch_events(n, seed):
    """Spike trains of a tactile array: tap (burst), stroke (moving) or hold (steady)."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CFG["classes"], n)
    t = np.arange(CFG["time"])[None, :, None]
    c = np.arange(CFG["channels"])[None, None, :]
    when = rng.uniform(6, 20, (n, 1, 1))
    tap = 0.7 * np.exp(-0.5 * ((t - when) / 2.0) ** 2) * np.ones_like(c)
    place = (t - when) * 0.5 + CFG["channels"] / 2
    stroke = 0.7 * np.exp(-0.5 * ((c - place) / 1.2) ** 2)
    hold = 0.35 * np.exp(-0.5 * ((c - 4.5) / 1.5) ** 2) * np.ones_like(t)
    rate = np.choose(label[:, None, None], [tap, stroke, hold]) + 0.02
    spikes = rng.uniform(size=rate.shape) < rate
    return spikes.astype("float32"), label.astype("int32")


@tf.custom_gradient
def spike(potential):
    """Heaviside forward, fast sigmoid backward."""

    def grad(upstream):
        return upstream / tf.square(1.0 + CFG["slope"] * tf.abs(potential))

    return tf.cast(potential > 0.0, potential.dtype), grad


class LIFLayer(layers.Layer):
    """Leaky integrate-and-fire neurons with recurrent weights."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.w_in = self.add_weight(shape=(shape[-1], self.units), initializer="he_normal", name="w_in")
        self.w_rec = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="w_rec")
        self.threshold = self.add_weight(shape=(self.units,), initializer="ones", name="threshold")

    def call(self, trains):
        current = tf.transpose(tf.matmul(trains, self.w_in), [1, 0, 2])
        steps = CFG["time"]
        out = tf.TensorArray(trains.dtype, size=steps, element_shape=(None, self.units))
        zero = tf.zeros_like(current[0])

        def body(i, v, z, out):
            v = CFG["decay"] * v + current[i] + 0.3 * tf.matmul(z, self.w_rec)
            v = v - tf.stop_gradient(z) * self.threshold
            z = spike(v - self.threshold)
            return i + 1, v, z, out.write(i, z)

        *_, out = tf.while_loop(lambda i, *_: i < steps, body, (0, zero, zero, out), maximum_iterations=steps)
        return tf.transpose(out.stack(), [1, 0, 2])


def build_model():
    trains = keras.Input((CFG["time"], CFG["channels"]))
    z = LIFLayer(CFG["hidden"], name="lif")(trains)
    rate = layers.GlobalAveragePooling1D(name="rate")(z)
    return keras.Model(trains, [layers.Dense(CFG["classes"], name="readout")(rate), rate])


x, y = touch_events(720, seed=1)
x_test, y_test = touch_events(240, seed=2)
model = build_model()
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits, rate = model(xb, training=True)
        ce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=logits))
        loss = ce + 0.1 * tf.reduce_mean(tf.square(tf.reduce_mean(rate, 0) - 0.2))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return ce, tf.reduce_mean(rate)


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(800, seed=2).batch(CFG["batch"])
start = [v.numpy() for v in model.trainable_variables]
losses = []
for epoch in range(CFG["epochs"]):
    ce, rate = np.mean([[float(a) for a in train_step(*b)] for b in ds], axis=0)
    losses.append(ce)
    print(f"epoch {epoch}  cross-entropy {ce:.3f}  mean firing rate {rate:.3f}")
accuracy = np.mean(np.argmax(model(x_test)[0].numpy(), 1) == y_test)
print(f"test accuracy {accuracy:.3f}")

assert losses[-1] < 0.5 * losses[0] and accuracy > 0.8 and 0.02 < rate < 0.7
assert all(np.abs(v.numpy() - s).max() > 1e-3 for v, s in zip(model.trainable_variables, start))
