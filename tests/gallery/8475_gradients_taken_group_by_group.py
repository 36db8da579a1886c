# case: two_towers_groups
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none, the loss goes down; one gradient list is cut at the right place and each part goes to its own optimizer
# exit: 0
# fix: -
"""Two-tower retrieval with in-batch softmax; each tower has its own optimizer."""
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

D = 16
n_users, n_items = 512, 400
users = rng.normal(size=(n_users, D)).astype("float32")
items = rng.normal(size=(n_items, D)).astype("float32")
# hidden taste: every user has watched the item that fits best
taste = users @ rng.normal(size=(D, 6))
style = items @ rng.normal(size=(D, 6))
taste /= np.linalg.norm(taste, axis=1, keepdims=True)
style /= np.linalg.norm(style, axis=1, keepdims=True)
watched = (taste @ style.T).argmax(1)


def make_tower(prefix):
    tower = keras.Sequential([
        keras.layers.Dense(D, activation="tanh", name=prefix + "_1"),
        keras.layers.Dense(D, name=prefix + "_2"),
    ], name=prefix + "_tower")
    tower.build((None, D))
    return tower


user_tower = make_tower("user")
item_tower = make_tower("item")
groups = [(user_tower.trainable_variables, keras.optimizers.Adam(0.005)),
          (item_tower.trainable_variables, keras.optimizers.Adam(0.002))]   # the catalogue moves more slowly
all_vars = [v for variables, _ in groups for v in variables]
temperature = 0.2


@tf.function
def train_step(xu, xi):
    with tf.GradientTape() as tape:
        u = tf.nn.l2_normalize(user_tower(xu, training=True), axis=1)
        v = tf.nn.l2_normalize(item_tower(xi, training=True), axis=1)
        logits = tf.matmul(u, v, transpose_b=True) / temperature
        hit = tf.range(tf.shape(logits)[0])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=hit, logits=logits))
    grads = tape.gradient(loss, all_vars)
    # zip stops at the shorter list, so each group takes its own ones off the front
    for variables, opt in groups:
        opt.apply_gradients(zip(grads, variables))
        grads = grads[len(variables):]
    return loss


pairs = tf.data.Dataset.from_tensor_slices((users, items[watched]))
pairs = pairs.shuffle(n_users, seed=2).batch(32, drop_remainder=True)
for epoch in range(15):
    losses = [float(train_step(xu, xi)) for xu, xi in pairs]
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}   in-batch loss {np.mean(losses):.4f}")

u = tf.nn.l2_normalize(user_tower(users), axis=1)
v = tf.nn.l2_normalize(item_tower(items), axis=1)
top = tf.math.top_k(u @ tf.transpose(v), k=20).indices.numpy()
print("recall@20:", np.mean([w in row for w, row in zip(watched, top)]))
