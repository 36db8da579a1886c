# case: drawn_warm_up_before_fit
# verdict: bug; static: no
# cause: non-reparameterised-sample
# expect_line: 25
# expect_variables: */kernel, */bias
# symptom_today: the warm-up only shrinks the weights; fit trains them later, so nothing seems wrong
# exit: 0
# fix: train the warm-up on the probabilities, or with the score function
# source: own (a cut term beside a penalty, and another loss that trains the same variables)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
warm = keras.optimizers.Adam(0.01)


@tf.function
def warm_up(x, y):
    with tf.GradientTape() as tape:
        chance = tf.sigmoid(net(x))
        guess = tf.cast(tf.random.uniform(tf.shape(chance)) < chance, tf.float32)
        loss = tf.reduce_mean((guess - y) ** 2)
        loss += 1e-4 * tf.add_n([tf.reduce_sum(v * v) for v in net.trainable_variables])
    warm.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for _ in range(4):
    warm_up(x, y)
net.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(from_logits=True))
net.fit(x, y, epochs=2, verbose=0)
