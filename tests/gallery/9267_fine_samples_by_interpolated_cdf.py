# case: fine_samples_by_interpolated_cdf
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(109)
proposal = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(0.01)
rays = tf.random.normal((16, 3))
surface = tf.sigmoid(rays[:, :1])
edges = tf.linspace(0.0, 1.0, 9)


def inverse_cdf(weights, u):
    cdf = tf.concat([tf.zeros((16, 1)), tf.cumsum(weights, axis=-1)], axis=-1)
    right = tf.clip_by_value(tf.searchsorted(cdf, u, side="right"), 1, 8)
    c0, c1 = tf.gather(cdf, right - 1, batch_dims=1), tf.gather(cdf, right, batch_dims=1)
    share = (u - c0) / tf.maximum(c1 - c0, 1e-4)
    e0, e1 = tf.gather(edges, right - 1), tf.gather(edges, right)
    return e0 + share * (e1 - e0)


@tf.function
def step():
    u = tf.random.uniform((16, 6), 0.01, 0.99)
    with tf.GradientTape() as tape:
        depth = inverse_cdf(tf.nn.softmax(proposal(rays, training=True)), u)
        loss = tf.reduce_mean(tf.square(depth - surface))
    grads = tape.gradient(loss, proposal.trainable_variables)
    optimizer.apply_gradients(zip(grads, proposal.trainable_variables))
    return loss


losses = [float(step()) for _ in range(60)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
