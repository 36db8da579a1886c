# case: simsiam_stops_the_target
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: lightly-ai/lightly#559 (detached projection in SimSiam)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
f = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(24, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dense(6)], name="f")
h = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(6)], name="h")
opt = keras.optimizers.Adam(3e-3)


def match(p, z):
    z = tf.stop_gradient(z)
    return tf.reduce_mean(keras.losses.cosine_similarity(z, p))


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        za, zb = f(a, training=True), f(b, training=True)
        loss = 0.5 * (match(h(za), zb) + match(h(zb), za))
    weights = [*f.trainable_variables, *h.trainable_variables]
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


data = tf.random.normal((48, 10), seed=1)
losses = [float(step(data + 0.05 * tf.random.normal(data.shape), data + 0.05 * tf.random.normal(data.shape))) for _ in range(30)]
assert losses[-1] < losses[0] - 0.2
print("ok", losses[0], losses[-1])
