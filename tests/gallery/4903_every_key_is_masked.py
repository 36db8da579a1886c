# case: every_key_is_masked
# verdict: bug
# cause: nan-exp
# expect_line: 28
# expect_variables: -
# symptom_today: silent: the loss is NaN as soon as a row has no token
# exit: 0
# fix: mask with a large negative number in place of -inf, or leave empty rows out
# source: own words, after questions about attention over empty rows
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
query, key, value = (keras.layers.Dense(8) for _ in range(3))
head = keras.layers.Dense(1)
optimizer = keras.optimizers.SGD(0.01)
rng = np.random.default_rng(5)
x = rng.normal(size=(4, 6, 3)).astype("float32")
target = rng.normal(size=(4, 6, 1)).astype("float32")
lengths = np.array([6, 3, 0, 5])
mask = np.where(np.arange(6)[None] < lengths[:, None], 0.0, -np.inf).astype("float32")[:, None]

for step in range(3):
    with tf.GradientTape() as tape:
        scores = tf.matmul(query(x), key(x), transpose_b=True) / 8.0**0.5
        scores = scores + mask
        attended = tf.matmul(tf.nn.softmax(scores, axis=-1), value(x))
        loss = tf.reduce_mean(tf.square(head(attended) - target))
    weights = [v for layer in (query, key, value, head) for v in layer.trainable_variables]
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
print(float(loss))
