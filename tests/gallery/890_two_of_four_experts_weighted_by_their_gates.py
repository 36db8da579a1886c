# case: two_of_four_experts_weighted_by_their_gates
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: mixtures of experts with top-k routing
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)


class Mixture(keras.layers.Layer):
    def __init__(self, experts, width, k=2):
        super().__init__()
        self.k = k
        self.router = keras.layers.Dense(experts, name="router")
        self.experts = [keras.layers.Dense(width, activation="relu") for _ in range(experts)]

    def build(self, shape):
        self.router.build(shape)
        for expert in self.experts:
            expert.build(shape)

    def call(self, x):
        probs = tf.nn.softmax(self.router(x))
        top, chosen = tf.math.top_k(probs, self.k)
        top = top / tf.reduce_sum(top, axis=-1, keepdims=True)
        gates = tf.reduce_sum(tf.one_hot(chosen, len(self.experts)) * top[..., None], axis=1)
        share = tf.reduce_mean(tf.cast(gates > 0, tf.float32), axis=0)
        self.add_loss(0.01 * len(self.experts) * tf.reduce_sum(tf.stop_gradient(share) * tf.reduce_mean(probs, axis=0)))
        outputs = tf.stack([expert(x) for expert in self.experts], axis=1)
        return tf.reduce_sum(outputs * gates[..., None], axis=1)


model = keras.Sequential([keras.layers.Input((6,)), Mixture(4, 12), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.01), "mse")
x = np.random.default_rng(6).normal(size=(96, 6)).astype("float32")
losses = model.fit(x, np.abs(x[:, :1]), epochs=4, verbose=0).history["loss"]
assert losses[-1] < losses[0]
