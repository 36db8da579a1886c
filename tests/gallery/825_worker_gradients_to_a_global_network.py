# case: worker_gradients_to_a_global_network
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: asynchronous actor-critic
import keras
import numpy as np
import tensorflow as tf


def network(name):
    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)], name=name)


shared = network("shared")
opt = keras.optimizers.SGD(0.05)


class Worker:
    def __init__(self, number):
        self.local = network(f"worker_{number}")
        self.data = tf.random.normal((16, 3), seed=number)

    def sync(self):
        self.local.set_weights(shared.get_weights())

    def push(self):
        self.sync()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.local(self.data) - self.data[:, :1]) ** 2)
        grads = tape.gradient(loss, self.local.trainable_variables)
        opt.apply_gradients(zip(grads, shared.trainable_variables))
        return float(loss)


workers = [Worker(n) for n in range(3)]
rounds = [np.mean([w.push() for w in workers]) for _ in range(10)]
print(rounds[0], rounds[-1])
assert rounds[-1] < rounds[0]
