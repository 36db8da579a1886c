# case: rate_of_a_billionth
# verdict: bug; static: no
# cause: learning-rate
# expect_line: 18
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: the loss stands still
# exit: 0
# fix: a larger learning rate
# seen: 1e-9 copied from a fine-tuning recipe
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
x = np.random.normal(size=(128, 3)).astype("float32")
y = x[:, :1] - 2.0 * x[:, 1:2]
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
adam = keras.optimizers.Adam(1e-9)
losses = []
for step in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    losses.append(float(loss))
assert losses[-1] > 0.99 * losses[0]
