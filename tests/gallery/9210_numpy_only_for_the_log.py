# case: numpy_only_for_the_log
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = keras.layers.Dense(16, activation="relu")
        self.b = keras.layers.Dense(1)
        self.activity = []

    def call(self, x):
        h = self.a(x)
        self.activity.append(float(np.mean(h.numpy() > 0)))        # share of active units, for the report only
        return self.b(h)


model = Regressor()
opt = keras.optimizers.Adam(1e-2)
x = tf.random.normal((64, 3), seed=2)
y = tf.reduce_max(x, axis=1, keepdims=True)
seen = []
for step in range(25):
    with tf.GradientTape() as tape:
        guess = model(x)
        loss = tf.reduce_mean(tf.abs(guess - y))
        rank_agreement = np.corrcoef(np.argsort(guess.numpy()[:, 0]), np.argsort(y.numpy()[:, 0]))[0, 1]
        seen.append((loss.numpy().item(), float(rank_agreement)))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert seen[-1][0] < seen[0][0]
print("ok", seen[0], seen[-1], model.activity[-1])
