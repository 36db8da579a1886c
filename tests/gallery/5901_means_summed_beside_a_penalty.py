# case: means_summed_beside_a_penalty
# verdict: bug
# cause: accumulation-no-averaging
# expect_line: 31
# expect_variables: -
# symptom_today: silent: each update is four times too large
# exit: 0
# fix: divide the loss, or the sum of the gradients, by the number of micro-batches
# source: own words, after questions about accumulation with weight decay in the loss
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.02)
rng = np.random.default_rng(6)
x = rng.normal(size=(64, 4)).astype("float32")
y = x[:, :1] - x[:, 1:2]
weights = net.trainable_variables
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in weights]

for epoch in range(3):
    for start in range(0, 64, 8):
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(net(x[start : start + 8]) - y[start : start + 8]))
            loss = error + 1e-4 * tf.add_n([tf.reduce_sum(tf.square(v)) for v in weights])
        for s, g in zip(sums, tape.gradient(loss, weights)):
            s.assign_add(g)
        if start % 32 == 24:
            optimizer.apply_gradients(zip([s.read_value() for s in sums], weights))
            for s in sums:
                s.assign(tf.zeros_like(s))
print(float(loss))
