# case: adversarial_domains
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the layer turns the gradient round on purpose, and the domain head is meant to do badly
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(96)

FEATURES, CODE, CLASSES = 10, 8, 3
BATCH, EPOCHS = 48, 10


def machines(n, site, seed):
    """Vibration features of two sites; at site 1 some channels are offset."""
    rng = np.random.default_rng(seed)
    fixed = np.random.default_rng(0)
    centres = fixed.normal(size=(CLASSES, FEATURES))
    fault = rng.integers(0, CLASSES, n)
    x = 0.9 * centres[fault] + 0.6 * rng.normal(size=(n, FEATURES))
    x[:, :3] += 1.2 * site
    return x.astype("float32"), fault.astype("int32")


@tf.custom_gradient
def turn_round(x, strength):
    def backward(upstream):
        return -strength * upstream, tf.zeros_like(strength)

    return tf.identity(x), backward


class GradientReversal(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.strength = self.add_weight(shape=(), initializer="zeros", trainable=False, name="strength")

    def call(self, x):
        return turn_round(x, tf.convert_to_tensor(self.strength))


def build_network():
    inputs = keras.Input((FEATURES,))
    h = layers.Dense(24, activation="gelu", name="encode_a")(inputs)
    code = layers.Dense(CODE, activation="tanh", name="encode_b")(h)
    fault = layers.Dense(CLASSES, name="fault")(code)
    turned = GradientReversal(name="reversal")(code)
    site = layers.Dense(16, activation="gelu", name="site_a")(turned)
    site = layers.Dense(1, name="site_b")(site)
    return keras.Model(inputs, {"fault": fault, "site": site}, name="dann")


network = build_network()
optimizer = keras.optimizers.Adam(3e-3)
fault_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
site_loss = keras.losses.BinaryCrossentropy(from_logits=True)
means = {k: keras.metrics.Mean(name=k) for k in ("fault", "site")}


@tf.function
def train_step(x_home, y_home, x_away):
    """Faults are known at the home site only; the site is known of every row."""
    x = tf.concat([x_home, x_away], axis=0)
    site = tf.concat([tf.zeros((tf.shape(x_home)[0], 1)), tf.ones((tf.shape(x_away)[0], 1))], axis=0)
    with tf.GradientTape() as tape:
        out = network(x, training=True)
        by_fault = fault_loss(y_home, out["fault"][: tf.shape(x_home)[0]])
        by_site = site_loss(site, out["site"])
        loss = by_fault + by_site
    variables = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    means["fault"].update_state(by_fault)
    means["site"].update_state(by_site)


def schedule(progress):
    return 0.5 * (2.0 / (1.0 + np.exp(-6.0 * progress)) - 1.0)


home, away = machines(768, 0, seed=1), machines(768, 1, seed=2)
x_test, y_test = machines(400, 1, seed=3)
dataset = tf.data.Dataset.from_tensor_slices((*home, away[0])).shuffle(1024, seed=5).batch(BATCH)

curve = []
for epoch in range(EPOCHS):
    network.get_layer("reversal").strength.assign(schedule(epoch / EPOCHS))
    for mean in means.values():
        mean.reset_state()
    for batch in dataset:
        train_step(*batch)
    accuracy = np.mean(network(x_test, training=False)["fault"].numpy().argmax(1) == y_test)
    curve.append({k: float(m.result()) for k, m in means.items()})
    print(f"epoch {epoch}  fault {curve[-1]['fault']:.3f}  site {curve[-1]['site']:.3f}  away accuracy {accuracy:.3f}")

assert curve[-1]["fault"] < 0.4 * curve[0]["fault"] and accuracy > 0.75

# the reversal is the identity forwards, and -strength backwards
probe = tf.constant(np.random.default_rng(7).normal(size=(4, CODE)).astype("float32"))
factor = tf.reverse(probe, axis=[0])
with tf.GradientTape() as tape:
    tape.watch(probe)
    through = network.get_layer("reversal")(probe)
    value = tf.reduce_sum(through * factor)
strength = float(network.get_layer("reversal").strength)
assert np.array_equal(through.numpy(), probe.numpy())
assert np.allclose(tape.gradient(value, probe).numpy(), -strength * factor.numpy(), atol=1e-6)
