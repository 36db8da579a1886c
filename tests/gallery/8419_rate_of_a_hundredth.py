# case: rate_of_a_hundredth
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7419
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
x = np.random.normal(size=(128, 3)).astype("float32")
y = x[:, :1] - 2.0 * x[:, 1:2]
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
adam = keras.optimizers.Adam(1e-2)
losses = []
for step in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < 0.99 * losses[0]
