# case: unscaled_inputs_into_tanh
# verdict: bug; static: no
# cause: saturated-units | vanishing-gradient
# expect_line: 15 27
# expect_variables: squash/*
# symptom_today: silent: tanh is at its limits for every unit and input; the first layer hardly moves
# exit: 0
# fix: scale the inputs (or a Normalization layer)
# seen: tabular data with columns in the thousands
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
squash = keras.layers.Dense(10, activation="tanh", name="squash")
out = keras.layers.Dense(1, name="out")
model = keras.Sequential([keras.layers.Input((3,)), squash, out])
opt = keras.optimizers.SGD(1e-3)
rng = np.random.default_rng(4)
salary = tf.constant(rng.uniform(20_000, 90_000, size=(80, 3)), tf.float32)
target = salary[:, :1] / 90_000.0


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(salary, training=True) - target) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.norm(grads[0]), tf.norm(grads[2])


for _ in range(15):
    loss, first, last = step()
activity = tf.reduce_mean(tf.cast(tf.abs(squash(salary)) > 0.999, tf.float32))
print(float(activity), float(first), float(last))
assert activity > 0.99 and first < 1e-6
