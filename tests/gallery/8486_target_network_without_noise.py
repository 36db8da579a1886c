# case: noisy_net_target_by_means
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)

GAMMA, ACTIONS, FEATURES = 0.3, 3, 4


class NoisyDense(keras.layers.Layer):
    """Dense layer with learned Gaussian noise on its weights (exploration without epsilon)."""

    def __init__(self, units, activation=None, **kw):
        super().__init__(**kw)
        self.units, self.act = units, keras.activations.get(activation)

    def build(self, shape):
        n = shape[-1]
        self.mu_kernel = self.add_weight(shape=(n, self.units), name="mu_kernel")
        self.sigma_kernel = self.add_weight(
            shape=(n, self.units), initializer=keras.initializers.Constant(0.3 / n ** 0.5), name="sigma_kernel")
        self.mu_bias = self.add_weight(shape=(self.units,), initializer="zeros", name="mu_bias")
        self.sigma_bias = self.add_weight(
            shape=(self.units,), initializer=keras.initializers.Constant(0.1), name="sigma_bias")

    def call(self, x, training=False):
        if not training:
            return self.act(tf.matmul(x, self.mu_kernel) + self.mu_bias)
        eps = tf.random.normal(self.mu_kernel.shape)
        kernel = self.mu_kernel + self.sigma_kernel * eps
        bias = self.mu_bias + self.sigma_bias * tf.random.normal([self.units])
        return self.act(tf.matmul(x, kernel) + bias)


def q_network():
    return keras.Sequential([
        keras.Input((FEATURES,)),
        NoisyDense(32, "tanh", name="noisy_hidden"),
        NoisyDense(ACTIONS, name="noisy_q"),
    ])


class NoisyDQN(keras.Model):
    def __init__(self):
        super().__init__()
        self.online, self.target = q_network(), q_network()
        self.target.set_weights(self.online.get_weights())
        self.target.trainable = False
        self.td = keras.metrics.Mean(name="td_loss")

    @property
    def metrics(self):
        return [self.td]

    def train_step(self, data):
        (s, a, r, s2), = data
        # the target is asked for its means: its noise (and its sigmas) play no part here
        best = tf.reduce_max(self.target(s2, training=False), axis=1)
        goal = r + GAMMA * best
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s, training=True), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        variables = self.online.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        for t, o in zip(self.target.variables, self.online.variables):
            t.assign(0.9 * t + 0.1 * o)
        self.td.update_state(loss)
        return {"td_loss": self.td.result()}


# replay memory of a toy plant: the action that fits the state is paid
N = 1024
s = rng.normal(size=(N, FEATURES)).astype("float32")
a = rng.integers(0, ACTIONS, N).astype("int32")
r = (s[np.arange(N), a] + 0.5 * (a == 1)).astype("float32")
s2 = (0.5 * s + 0.5 * rng.normal(size=s.shape)).astype("float32")

agent = NoisyDQN()
agent.compile(optimizer=keras.optimizers.Adam(0.005))
memory = tf.data.Dataset.from_tensor_slices(((s, a, r, s2),)).shuffle(N, seed=2).batch(64)
agent.fit(memory, epochs=6, verbose=2)
for layer in agent.online.layers:
    print(layer.name, "mean sigma", float(tf.reduce_mean(layer.sigma_kernel)), float(tf.reduce_mean(layer.sigma_bias)))
