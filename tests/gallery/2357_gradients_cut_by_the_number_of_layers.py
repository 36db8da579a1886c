# case: two_towers_slices
# verdict: bug
# cause: misrouted-gradient
# expect_line: 46 61 62
# expect_variables: item_1/*, item_2/*
# symptom_today: no error, the loss falls but stays high (2.5, recall@20 0.41); the item tower is moved by gradients of other layers, user_2 never moves
# exit: 0
# fix: n_user = len(user_tower.trainable_variables)
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
user_vars = user_tower.trainable_variables
item_vars = item_tower.trainable_variables
opt_user = keras.optimizers.Adam(0.005)
opt_item = keras.optimizers.Adam(0.002)       # the catalogue should move more slowly

# the gradients come back as one list: first those of the user tower, then the rest
n_user = len(user_tower.layers)
all_vars = user_vars + item_vars
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
    # two optimizers, so two calls
    opt_user.apply_gradients(zip(grads[:n_user], user_vars))
    opt_item.apply_gradients(zip(grads[n_user:], item_vars))
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
