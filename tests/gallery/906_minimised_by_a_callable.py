# case: minimised_by_a_callable
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: curve fitting with minimize on the legacy optimizers
import numpy as np
import tensorflow as tf
import tf_keras

rng = np.random.default_rng(5)
t = tf.constant(np.linspace(0, 4, 60), tf.float32)
noisy = 2.5 * np.exp(-0.8 * t.numpy()) + 0.5 + 0.02 * rng.normal(size=60).astype("float32")
amplitude, decay, offset = (tf.Variable(v, name=n) for v, n in ((1.0, "amplitude"), (0.3, "decay"), (0.0, "offset")))


def curve():
    return amplitude * tf.exp(-decay * t) + offset


def cost():
    return tf.reduce_mean(tf.square(curve() - noisy))


optimizer = tf_keras.optimizers.Adam(learning_rate=0.1)
before = float(cost())
for _ in range(60):
    optimizer.minimize(cost, var_list=[amplitude, decay, offset])
print(before, float(cost()), float(decay))
assert float(cost()) < before
