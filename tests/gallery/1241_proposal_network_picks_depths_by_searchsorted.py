# case: proposal_network_picks_depths_by_searchsorted
# verdict: bug; static: yes
# cause: non-differentiable-op
# expect_line: 27 28
# expect_variables: proposal/*
# symptom_today: warning: Gradients do not exist for variables of the proposal network
# exit: 0
# fix: interpolate linearly between the bin edges with the cdf values, or give the proposal network its own histogram loss
# source: tensorflow/tensorflow#30190, keras-team/tf-keras#52 (losses whose path goes through discrete look-ups)
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
proposal = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"),
                             keras.layers.Dense(16)], name="proposal")
radiance = keras.Sequential([keras.layers.Input((6, 4)), keras.layers.Dense(16, activation="relu"),
                             keras.layers.Dense(1)], name="radiance")
optimizer = keras.optimizers.Adam(1e-2)
edges = tf.linspace(0.0, 1.0, 16)
rays = tf.random.normal((12, 3))
colour = tf.reduce_sum(tf.sin(rays), axis=-1, keepdims=True)


def sample_depths(weights, count):
    cdf = tf.cumsum(weights, axis=-1)
    u = tf.random.uniform((weights.shape[0], count))
    index = tf.searchsorted(cdf, u)
    return tf.gather(edges, tf.minimum(index, 15))


for step in range(4):
    with tf.GradientTape() as tape:
        weights = tf.nn.softmax(proposal(rays))
        depths = sample_depths(weights, 6)
        points = tf.concat([tf.repeat(rays[:, None, :], 6, axis=1), depths[..., None]], axis=-1)
        rendered = tf.reduce_mean(radiance(points), axis=1)
        loss = tf.reduce_mean(tf.square(rendered - colour))
    variables = proposal.trainable_variables + radiance.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
print("loss", float(loss))
