# case: evidence_with_epsilon
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: clip or add an epsilon before the log and
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(13)
EPS = 1e-7


class MixtureHead(keras.layers.Layer):
    def __init__(self, components=3):
        super().__init__()
        self.k = components
        self.raw = keras.layers.Dense(3 * components)

    def call(self, h):
        logits, mean, raw_scale = tf.split(self.raw(h), 3, axis=-1)
        return tf.nn.softmax(logits), mean, tf.nn.softplus(raw_scale) + 1e-2


inputs = keras.Input((1,))
hidden = keras.layers.Dense(24, activation="tanh")(inputs)
model = keras.Model(inputs, MixtureHead()(hidden))
optimizer = keras.optimizers.Adam(1e-2)


def negative_log_likelihood(y, weights, mean, scale):
    z = (y - mean) / scale
    density = tf.exp(-0.5 * tf.square(z)) / (scale * np.sqrt(2 * np.pi))
    return -tf.reduce_mean(tf.math.log(tf.reduce_sum(weights * density, axis=-1) + EPS))


def entropy_bonus(weights):
    safe = tf.clip_by_value(weights, EPS, 1.0)
    return -tf.reduce_mean(tf.reduce_sum(weights * tf.math.log(safe), axis=-1))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        weights, mean, scale = model(x)
        nll = negative_log_likelihood(y, weights, mean, scale)
        loss = nll - 0.01 * entropy_bonus(weights)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return nll


rng = np.random.default_rng(0)
y = rng.uniform(-1, 1, size=(300, 1)).astype("float32")
x = (y + 0.3 * np.sin(6.0 * y) + 0.05 * rng.normal(size=y.shape)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(300, seed=1).batch(50)
for epoch in range(10):
    for a, b in data:
        nll = train_step(a, b)
    if epoch % 3 == 0:
        print(epoch, float(nll))
