# case: critic_target_is_a_square
# verdict: bug; static: no
# cause: loss-shape-broadcast
# expect_line: 32 35
# expect_variables: - (the loss; critic/*)
# symptom_today: silent: the target has shape (32, 32), the critic learns the mean
# exit: 0
# fix: reward[:, None] (and done[:, None]) before adding the (32, 1) value
# source: google-deepmind/acme#277 (default broadcasting makes a batch x batch tensor), keras-team/keras#14627
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


def make_critic(name):
    s, a = keras.Input((3,)), keras.Input((1,))
    h = keras.layers.Dense(32, activation="relu")(keras.layers.Concatenate()([s, a]))
    return keras.Model([s, a], keras.layers.Dense(1)(h), name=name)


actor_target = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="tanh")])
critic, critic_target = make_critic("critic"), make_critic("critic_target")
critic_target.set_weights(critic.get_weights())
opt = keras.optimizers.Adam(2e-3)


@tf.function
def learn(s, a, r, s2, done):
    nxt = critic_target([s2, actor_target(s2)])
    y = r + 0.99 * (1.0 - done) * nxt
    with tf.GradientTape() as tape:
        q = critic([s, a], training=True)
        loss = tf.reduce_mean(tf.square(y - q))
    grads = tape.gradient(loss, critic.trainable_variables)
    opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, tf.shape(y)


rng = np.random.default_rng(0)
for it in range(6):
    s, s2 = (tf.constant(rng.normal(size=(32, 3)), tf.float32) for _ in range(2))
    a = tf.constant(rng.uniform(-1, 1, (32, 1)), tf.float32)
    r = tf.constant(rng.normal(size=32), tf.float32)
    done = tf.constant(rng.uniform(size=32) < 0.1, tf.float32)
    loss, shape = learn(s, a, r, s2, done)
print("loss", float(loss), "shape of the target", shape.numpy())
assert list(shape.numpy()) == [32, 32]
