# case: pairwise_distances_on_purpose
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: contrastive losses that broadcast every pair
import keras
import tensorflow as tf

keras.utils.set_random_seed(5)
embed = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(0.02)
scores_w = keras.layers.Dense(1)
scores_w.build((None, 3))
variables = embed.trainable_variables + scores_w.trainable_variables


@tf.function
def step(x, labels, relevance):
    with tf.GradientTape() as tape:
        z = embed(x)
        apart = tf.reduce_sum((z[:, None, :] - z[None, :, :]) ** 2, -1)
        same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
        contrast = tf.reduce_mean(same * apart + (1.0 - same) * tf.nn.relu(1.0 - apart))
        s = scores_w(z)
        gaps = s - tf.transpose(s)
        wanted = relevance[:, None] - relevance[None, :]
        ranking = tf.reduce_mean(tf.nn.softplus(-gaps * tf.sign(wanted)))
        loss = contrast + ranking
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


x = tf.random.normal((20, 5), seed=5)
labels = tf.cast(x[:, 0] > 0, tf.int32)
losses = [float(step(x, labels, x[:, 1])) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
