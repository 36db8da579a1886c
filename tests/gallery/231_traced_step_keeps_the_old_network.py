# case: traced_step_keeps_the_old_network
# verdict: bug; static: no
# cause: variable-recreated | optimizer-variable-mismatch | python-state-in-graph
# expect_line: 26 27 33 35
# expect_variables: - (the attribute that was replaced: the second advantage network)
# symptom_today: silent: the loss falls, but the new network never changes
# exit: 0
# fix: rebuild the step (a new tf.function) together with the network, or pass the network in
# seen: regret minimisation that re-initialises its network in every iteration
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def make_network():
    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])


class Solver:
    def __init__(self):
        self.reinitialise()

    def reinitialise(self):
        self.network = make_network()
        self.optimizer = keras.optimizers.Adam(0.01)
        self.optimizer.build(self.network.trainable_variables)

    @tf.function
    def step(self, info, regret):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.network(info, training=True) - regret) ** 2)
        grads = tape.gradient(loss, self.network.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.network.trainable_variables))
        return loss

    def learn(self, info, regret, steps=5):
        for _ in range(steps):
            loss = self.step(info, regret)
        return float(loss)


info = tf.random.normal((20, 3), seed=1)
regret = tf.random.normal((20, 2), seed=2)
solver = Solver()
first = solver.learn(info, regret)
solver.reinitialise()
before = solver.network.get_weights()
second = solver.learn(info, regret)
print(first, second)
assert second < first and all(np.array_equal(a, b) for a, b in zip(before, solver.network.get_weights()))
