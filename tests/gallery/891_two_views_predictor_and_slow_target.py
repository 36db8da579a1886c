# case: two_views_predictor_and_slow_target
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: self-supervised learning without negatives
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)


def encoder():
    return keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(16), keras.layers.BatchNormalization(),
                             keras.layers.ReLU(), keras.layers.Dense(8)])


online, target = encoder(), encoder()
predictor = keras.Sequential(
    [keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)])
target.set_weights(online.get_weights())
target.trainable = False
opt = keras.optimizers.Adam(0.01)


def distance(p, z):
    p, z = tf.math.l2_normalize(p, axis=-1), tf.math.l2_normalize(tf.stop_gradient(z), axis=-1)
    return 2.0 - 2.0 * tf.reduce_mean(tf.reduce_sum(p * z, axis=-1))


@tf.function
def step(x):
    one, two = x + 0.1 * tf.random.normal(tf.shape(x)), x * tf.random.uniform(tf.shape(x), 0.8, 1.2)
    with tf.GradientTape() as tape:
        p1, p2 = predictor(online(one, training=True)), predictor(online(two, training=True))
        loss = distance(p1, target(two, training=True)) + distance(p2, target(one, training=True))
    variables = online.trainable_variables + predictor.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    for slow, fast in zip(target.weights, online.weights):
        slow.assign(0.9 * slow + 0.1 * fast)
    return loss


x = tf.constant(np.random.default_rng(7).normal(size=(48, 10)), tf.float32)
losses = [float(step(x)) for _ in range(12)]
assert losses[-1] < losses[0]
