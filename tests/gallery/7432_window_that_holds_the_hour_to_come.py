# case: window_that_holds_the_hour_to_come
# verdict: bug; static: no
# cause: validation-leaks-into-training
# expect_line: 17 18
# expect_variables: - (the fault is not one of variables)
# symptom_today: an error of nearly nothing, and bad forecasts
# exit: 0
# fix: end the window one step earlier
# seen: off by one in a slice
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(32)
hours = np.arange(400)
load = (np.sin(hours / 4.0) + 0.3 * np.random.normal(size=400)).astype("float32")
past = np.stack([load[i : i + 9] for i in range(391)])
coming = np.array([[load[i + 8]] for i in range(391)])
model = keras.Sequential([
    keras.Input((past.shape[1],)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(1),
])
loss_of = keras.losses.MeanSquaredError()
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(30):
    for k in range(0, 384, 32):
        loss = step(past[k : k + 32], coming[k : k + 32])
assert loss < 0.01
