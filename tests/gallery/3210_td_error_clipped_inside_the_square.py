# case: td_error_clipped_inside_the_square
# verdict: bug; static: yes
# cause: zero-gradient-op
# expect_line: 33 35
# expect_variables: q/*
# symptom_today: silent: all gradients are exactly zero as soon as the errors are larger than one
# exit: 0
# fix: clip the gradient (Huber loss), not the error
# source: techfeed.net/402773 (loss clipping after DeepMind's DQN: all gradients turn to zero)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)
q = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)], name="q")
q_target = keras.models.clone_model(q)
q_target.set_weights(q.get_weights())
opt = keras.optimizers.RMSprop(2.5e-4)
rng = np.random.default_rng(1)


def sample(n=32):
    s = rng.normal(size=(n, 4)).astype("float32")
    return s, rng.integers(0, 2, n), rng.choice([50.0, 200.0], n).astype("float32"), rng.normal(size=(n, 4)).astype("float32")


first = q.get_weights()[0].copy()
for update in range(8):
    s, a, r, s2 = sample()
    target = r + 0.99 * tf.reduce_max(q_target(s2), axis=1)
    with tf.GradientTape() as tape:
        taken = tf.reduce_sum(q(s) * tf.one_hot(a, 2), axis=1)
        delta = tf.clip_by_value(target - taken, -1.0, 1.0)
        loss = tf.reduce_mean(tf.square(delta))
    grads = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(grads, q.trainable_variables))
    print(update, float(loss), float(tf.linalg.global_norm(grads)))
assert np.array_equal(first, q.get_weights()[0])
