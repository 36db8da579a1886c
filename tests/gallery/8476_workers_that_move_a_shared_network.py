# case: async_workers_global_net
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; gradients of the worker's copy are applied to the global net on purpose (A3C style)
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(22)

# A3C style learner, without the threads: each worker has its own copy of the Q net and its own
# share of the experience. It copies the global weights, takes the gradient on its copy, and the
# global net is what the optimizer moves.
OBS, ACTIONS = 4, 3
BATCH = 64


def make_q(prefix):
    return keras.Sequential(
        [
            keras.Input((OBS,)),
            keras.layers.Dense(32, activation="tanh", name=prefix + "_hidden"),
            keras.layers.Dense(ACTIONS, name=prefix + "_q"),
        ],
        name=prefix,
    )


class Worker:
    def __init__(self, number, global_net):
        self.rng = np.random.default_rng(100 + number)
        self.net = make_q(f"worker{number}")
        self.global_net = global_net

    def experience(self):
        """One-step episodes: the return is the reward."""
        s = self.rng.normal(size=(BATCH, OBS)).astype("float32")
        a = self.rng.integers(0, ACTIONS, size=BATCH)
        preferred = np.stack([s[:, 0], -s[:, 0] + 0.5 * s[:, 1], np.tanh(s[:, 2])], axis=1)
        r = preferred[np.arange(BATCH), a] + 0.05 * self.rng.normal(size=BATCH)
        return tf.constant(s), tf.constant(a, tf.int32), tf.constant(r, tf.float32)

    def gradients(self):
        # the copy is exactly the global net while its gradient is taken
        self.net.set_weights(self.global_net.get_weights())
        s, a, ret = self.experience()
        with tf.GradientTape() as tape:
            q = self.net(s)
            q_taken = tf.reduce_sum(q * tf.one_hot(a, ACTIONS), axis=1)
            loss = tf.reduce_mean(tf.square(ret - q_taken))
        return loss, tape.gradient(loss, self.net.trainable_variables)


global_net = make_q("global")
workers = [Worker(k, global_net) for k in range(3)]
optimizer = keras.optimizers.Adam(5e-3)

for step in range(90):
    worker = workers[step % len(workers)]
    loss, grads = worker.gradients()
    optimizer.apply_gradients(zip(grads, global_net.trainable_variables))
    if step % 15 == 0 or step == 89:
        print(f"step {step:3d}  worker {step % len(workers)}  loss {float(loss):.4f}")
