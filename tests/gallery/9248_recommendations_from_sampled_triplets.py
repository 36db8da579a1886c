# case: recommendations_from_sampled_triplets
# verdict: healthy
# cause: - (duplicate-sparse-rows may be noted)
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (BPR pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
n_user, n_item = 60, 40
users = keras.layers.Embedding(n_user, 8, name="users")
items = keras.layers.Embedding(n_item, 8, name="items")
bias = keras.layers.Embedding(n_item, 1, embeddings_initializer="zeros", name="bias")
for layer in (users, items, bias):
    layer.build(None)
params = users.trainable_variables + items.trainable_variables + bias.trainable_variables
opt = keras.optimizers.Adagrad(0.3)


def score(u, i):
    return tf.reduce_sum(users(u) * items(i), -1) + tf.squeeze(bias(i), -1)


@tf.function
def step(u, liked, other):
    with tf.GradientTape() as tape:
        gap = score(u, liked) - score(u, other)
        penalty = 1e-4 * (tf.nn.l2_loss(users(u)) + tf.nn.l2_loss(items(liked)) + tf.nn.l2_loss(items(other)))
        loss = -tf.reduce_mean(tf.math.log_sigmoid(gap)) + penalty
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
    return loss


rng = np.random.default_rng(0)
taste = rng.normal(size=(n_user, 2)) @ rng.normal(size=(2, n_item))
log = []
for it in range(60):
    u = rng.integers(0, 20, 64)
    pair = rng.integers(0, n_item, (64, 2))
    best = np.where(taste[u, pair[:, 0]] > taste[u, pair[:, 1]], 0, 1)
    log.append(float(step(tf.constant(u), tf.constant(pair[np.arange(64), best]), tf.constant(pair[np.arange(64), 1 - best]))))
print(np.mean(log[:5]), np.mean(log[-5:]))
assert np.mean(log[-5:]) < np.mean(log[:5])
