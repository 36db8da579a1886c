# case: virtual_adversarial_smoothing
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (VAT pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
opt = keras.optimizers.Adam(5e-3)
rng = np.random.default_rng(0)
few_x = tf.constant([[-1.0, 0.0], [1.0, 0.0]])
few_y = tf.constant([0, 1])
many = tf.constant(np.r_[rng.normal([-1, 0], 0.2, (40, 2)), rng.normal([1, 0], 0.2, (40, 2))], tf.float32)


def kl(p_logits, q_logits):
    p = tf.nn.softmax(p_logits)
    return tf.reduce_mean(tf.reduce_sum(p * (tf.nn.log_softmax(p_logits) - tf.nn.log_softmax(q_logits)), -1))


@tf.function
def worst_direction(x, clean):
    d = 1e-2 * tf.math.l2_normalize(tf.random.normal(tf.shape(x)), axis=-1)
    with tf.GradientTape() as tape:
        tape.watch(d)
        gap = kl(clean, net(x + d, training=True))
    return 0.3 * tf.math.l2_normalize(tape.gradient(gap, d) + 1e-12, axis=-1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        clean = tf.stop_gradient(net(many, training=True))
        push = tf.stop_gradient(worst_direction(many, clean))
        smooth = kl(clean, net(many + push, training=True))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(few_y, net(few_x))) + smooth
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


log = [float(step()) for _ in range(40)]
print(log[0], log[-1])
assert log[-1] < log[0]
