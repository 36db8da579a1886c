# case: temperature_cooled_inside_a_traced_step
# verdict: bug
# cause: python-state-in-graph
# expect_line: 61 63 47
# expect_variables: -
# symptom_today: the temperature never cools, the selector stays a soft mixture of all features
# exit: 0
# fix: keep the temperature in a tf.Variable (trainable=False) and assign it in the step
import numpy as np
import tensorflow as tf

N_FEATURES, N_SELECT = 12, 3


def make_sensor_table(n=512, seed=5):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, N_SELECT))
    copies = np.concatenate([latent, 0.5 * rng.normal(size=(n, N_FEATURES - N_SELECT))], axis=1)
    target = latent @ rng.normal(size=(N_SELECT, 2)) + 0.05 * rng.normal(size=(n, 2))
    return copies.astype("float32"), target.astype("float32")


class ConcreteSelector(tf.keras.layers.Layer):
    """Picks N_SELECT input columns with relaxed one-hot samples."""

    def __init__(self, n_select, **kwargs):
        super().__init__(**kwargs)
        self.n_select = n_select

    def build(self, input_shape):
        self.logits = self.add_weight(
            name="logits", shape=(self.n_select, input_shape[-1]), initializer="glorot_normal")

    def call(self, x, temperature):
        uniform = tf.random.uniform(tf.shape(self.logits), 1e-6, 1.0 - 1e-6)
        gumbel = -tf.math.log(-tf.math.log(uniform))
        sample = tf.nn.softmax((self.logits + gumbel) / temperature, axis=-1)
        return tf.matmul(x, sample, transpose_b=True), sample


class SelectionExperiment:
    def __init__(self, start=10.0, end=0.1, cooling=0.97, lr=0.05):
        self.selector = ConcreteSelector(N_SELECT, name="selector")
        self.decoder = tf.keras.Sequential(
            [tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(2)], name="decoder")
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.temperature = start
        self.end = end
        self.cooling = cooling

    def build(self, x):
        picked, _ = self.selector(x, temperature=self.temperature)
        self.decoder(picked)

    @property
    def variables(self):
        return self.selector.trainable_variables + self.decoder.trainable_variables

    @tf.function
    def step(self, x, y):
        self.temperature = max(self.temperature * self.cooling, self.end)
        with tf.GradientTape() as tape:
            picked, sample = self.selector(x, temperature=self.temperature)
            loss = tf.reduce_mean(tf.square(self.decoder(picked) - y))
        grads = tape.gradient(loss, self.variables)
        self.optimizer.apply_gradients(zip(grads, self.variables))
        return loss, tf.reduce_mean(tf.reduce_max(sample, axis=-1))


def main():
    tf.keras.utils.set_random_seed(2)
    x, y = make_sensor_table()
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=1).batch(64)
    run = SelectionExperiment()
    run.build(x[:1])
    peaks, losses = [], []
    for epoch in range(30):
        for xb, yb in data:
            loss, peak = run.step(xb, yb)
            peaks.append(float(peak))
            losses.append(float(loss))
    print("loss %.3f -> %.3f" % (np.mean(losses[:8]), np.mean(losses[-8:])))
    print("largest selection weight, last steps: %.3f" % np.mean(peaks[-8:]))
    print("temperature", run.temperature)
    assert run.temperature > 5.0
    assert np.mean(peaks[-8:]) < 0.6


main()
