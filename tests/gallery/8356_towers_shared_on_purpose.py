# case: triplet_shared_towers_ok
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the three towers are one and the same network on purpose, as a triplet loss wants it
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(22)
DIM, BATCH = 10, 64

# six kinds of signal, each a noisy copy of its prototype
rng = np.random.default_rng(22)
prototype = rng.normal(size=(6, DIM))
label = rng.integers(0, 6, 1200)
signal = (prototype[label] + 0.9 * rng.normal(size=(1200, DIM))).astype("float32")
by_label = [np.flatnonzero(label == k) for k in range(6)]


def make_tower():
    return keras.Sequential([
        keras.Input((DIM,)),
        layers.Dense(32, activation="tanh", name="tower_hidden"),
        layers.Dense(6, name="tower_embedding"),
        layers.UnitNormalization(),
    ])


towers = [make_tower()] * 3                 # siamese: anchor, positive and negative share the weights
anchor_net, positive_net, negative_net = towers
weights = anchor_net.trainable_variables    # of one of them, as they are all the same
optimizer = keras.optimizers.Adam(3e-3)


def draw_triplets():
    pos_class = rng.integers(0, 6, BATCH)
    neg_class = (pos_class + rng.integers(1, 6, BATCH)) % 6
    a = np.array([rng.choice(by_label[k]) for k in pos_class])
    p = np.array([rng.choice(by_label[k]) for k in pos_class])
    n = np.array([rng.choice(by_label[k]) for k in neg_class])
    return signal[a], signal[p], signal[n]


def squared_distance(u, v):
    return tf.reduce_sum(tf.square(u - v), axis=1)


running = None
for step in range(50):
    a, p, n = draw_triplets()
    with tf.GradientTape() as tape:
        ea, ep, en = anchor_net(a, training=True), positive_net(p, training=True), negative_net(n, training=True)
        # soft margin: never quite zero, so easy triplets still count a little
        loss = tf.reduce_mean(tf.nn.softplus(2.0 * (squared_distance(ea, ep) - squared_distance(ea, en)) + 0.5))
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    running = float(loss) if running is None else 0.9 * running + 0.1 * float(loss)
    if step % 7 == 0:
        print(f"step {step:2d} triplet loss {float(loss):.4f} (running {running:.4f})")
