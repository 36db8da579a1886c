# case: site_specific_heads_with_zeros_for_the_idle
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (unconnected_gradients=ZERO)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
trunk = keras.Sequential([keras.Input((5,)), keras.layers.Dense(24, activation="relu")], name="trunk")
heads = [keras.Sequential([keras.Input((24,)), keras.layers.Dense(1)], name=f"site_{k}") for k in range(3)]
params = [v.value for net in [trunk] + heads for v in net.trainable_variables]
opt = keras.optimizers.SGD(0.02)
rng = np.random.default_rng(0)
truth = rng.normal(size=(3, 5, 1)).astype("float32")
log = []
for step in range(90):
    site = step % 3
    x = tf.constant(rng.normal(size=(32, 5)), tf.float32)
    y = tf.tanh(x @ truth[site])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(heads[site](trunk(x, training=True), training=True) - y))
    grads = tape.gradient(loss, params, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    opt.apply_gradients(zip(grads, params))
    log.append(float(loss))
print(np.mean(log[:9]), np.mean(log[-9:]))
assert np.mean(log[-9:]) < np.mean(log[:9])
