# case: infinite_rows_in_the_data
# verdict: bug
# cause: nan-data
# expect_line: 26
# expect_variables: -
# symptom_today: silent: the loss is NaN from the first step on
# exit: 0
# fix: leave out the rows with a price of zero, or divide with np.divide(..., where=...)
# source: own words, after questions about ratios with zeros in a table
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
rng = np.random.default_rng(4)
price = rng.integers(0, 4, size=(32, 3)).astype("float32")
with np.errstate(divide="ignore"):
    ratio = 1.0 / price
target = rng.normal(size=(32, 1)).astype("float32")
weights = net.trainable_variables

for step in range(3):
    with tf.GradientTape() as tape:
        out = net(ratio)
        loss = tf.reduce_mean(tf.square(out - target))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
print(float(loss))
