# case: rectified_output_for_negative_targets
# verdict: bug; static: no
# cause: dead-units
# expect_line: 22 29
# expect_variables: *
# symptom_today: silent: after a few steps the network predicts 0 for everything and never recovers
# exit: 0
# fix: a linear output unit
# seen: temperature and profit regressions with relu on the last layer
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
days = rng.uniform(0, 1, size=(60, 4)).astype("float32")
frost = -5.0 - 3.0 * days.sum(axis=1, keepdims=True)

model = keras.Sequential([
    keras.layers.Input((4,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="relu"),
])
optimizer = keras.optimizers.Adam(0.01)


def epoch():
    with tf.GradientTape() as tape:
        predicted = model(days, training=True)
        loss = tf.reduce_mean((predicted - frost) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return float(loss), float(tf.linalg.global_norm(grads))


history = [epoch() for _ in range(60)]
print(history[0], history[-1])
assert history[-1][1] == 0.0
