# case: router_penalty_looked_at_afterwards
# verdict: bug
# cause: missing-loss-term
# expect_line: 57 58 29
# expect_variables: -
# symptom_today: the balance penalty of the router is computed at every call, yet the share of the busiest expert is the same with it as without
# exit: 0
# fix: `loss = tf.reduce_mean(error) + tf.add_n(self.losses)`
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

EXPERTS = 4


class Router(layers.Layer):
    """Soft assignment of rows to experts; keeps the load even through a penalty."""

    def __init__(self, experts, balance=3.0, **kwargs):
        super().__init__(**kwargs)
        self.balance = balance
        self.experts = experts
        self.gate = layers.Dense(experts, name="gate")

    def call(self, x):
        share = tf.nn.softmax(self.gate(x))
        load = tf.reduce_mean(share, axis=0)
        self.add_loss(self.balance * self.experts * tf.reduce_sum(tf.square(load)))
        return share


class ExpertRegressor(keras.Model):
    def __init__(self, experts=EXPERTS):
        super().__init__()
        self.router = Router(experts, name="router")
        self.specialists = [
            keras.Sequential([layers.Dense(8, activation="tanh"), layers.Dense(1)], name=f"expert_{i}")
            for i in range(experts)
        ]
        self.error = keras.metrics.Mean(name="error")

    @property
    def metrics(self):
        return [self.error]

    def call(self, x):
        share = self.router(x)
        answers = tf.concat([s(x) for s in self.specialists], axis=-1)
        return tf.reduce_sum(share * answers, axis=-1, keepdims=True)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            error = tf.square(y - predicted)
            loss = tf.reduce_mean(error)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients = [tf.clip_by_norm(g, 5.0) for g in gradients]
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.error.update_state(error)
        return {"error": self.error.result()}


def demand(rng, n):
    """Most rows come from one regime, the others are rare."""
    regime = rng.choice(EXPERTS, n, p=[0.85, 0.05, 0.05, 0.05])
    x = rng.normal(0, 1.0, (n, 6))
    x[:, 0] += 2.0 * regime
    slope = rng.normal(0, 1, (EXPERTS, 6))
    y = np.einsum("nf,nf->n", x, slope[regime]) / 3 + rng.normal(0, 0.1, n)
    x = (x - x.mean(0)) / x.std(0)
    return x.astype("float32"), y[:, None].astype("float32")


keras.utils.set_random_seed(31)
x, y = demand(np.random.default_rng(31), 512)

model = ExpertRegressor()
model.compile(optimizer=keras.optimizers.Adam(0.01))
curve = model.fit(x, y, batch_size=64, epochs=10, verbose=0).history["error"]

with tf.GradientTape(persistent=True) as tape:
    plain = tf.reduce_mean(tf.square(y - model(x)))
    penalty = tf.add_n(model.losses)
pull = tape.gradient(penalty, model.router.trainable_variables)
load = tf.reduce_mean(model.router(x), axis=0).numpy()
print("error", np.round(curve[::3], 3), "load", np.round(load, 3), "penalty", float(penalty))
assert curve[-1] < curve[0]
assert len(model.losses) == 1 and float(penalty) > 3.05
assert float(tf.linalg.global_norm(pull)) > 0.01
assert load.max() > 0.3
