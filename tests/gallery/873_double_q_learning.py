# case: double_q_learning
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: argmax of one network picks, another network values, inside the tape
import keras
import numpy as np
import tensorflow as tf


def q_network():
    inputs = keras.Input((4,))
    h = keras.layers.Dense(16, activation="relu")(inputs)
    value, advantage = keras.layers.Dense(1)(h), keras.layers.Dense(3)(h)
    centred = keras.layers.Lambda(lambda a: a - keras.ops.mean(a, axis=-1, keepdims=True))(advantage)
    return keras.Model(inputs, keras.layers.Add()([value, centred]))


keras.utils.set_random_seed(9)
online, target = q_network(), q_network()
target.set_weights(online.get_weights())
opt = keras.optimizers.Adam(0.01)


@tf.function
def learn(s, a, r, s2, done):
    with tf.GradientTape() as tape:
        best = tf.argmax(online(s2), -1)
        backup = r + 0.9 * (1.0 - done) * tf.gather(target(s2), best, batch_dims=1)
        q = tf.reduce_sum(online(s) * tf.one_hot(a, 3), -1)
        weights = tf.stop_gradient(tf.abs(backup - q) + 0.1)
        loss = tf.reduce_mean(weights * keras.losses.huber(tf.stop_gradient(backup)[:, None], q[:, None]))
    grads = [tf.clip_by_norm(g, 10.0) for g in tape.gradient(loss, online.trainable_variables)]
    opt.apply_gradients(zip(grads, online.trainable_variables))
    return loss


rng = np.random.default_rng(9)
s, s2 = rng.normal(size=(2, 64, 4)).astype("float32")
a, r, done = rng.integers(0, 3, 64), s[:, 0], np.zeros(64, "float32")
losses = []
for step in range(30):
    losses.append(float(learn(s, a, r, s2, done)))
    if step % 10 == 9:
        target.set_weights(online.get_weights())
print(losses[0], losses[9])
assert losses[9] < losses[0]
