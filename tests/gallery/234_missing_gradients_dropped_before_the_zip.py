# case: missing_gradients_dropped_before_the_zip
# verdict: bug; static: yes
# cause: misrouted-gradient; also: variable-not-in-loss at line 39
# expect_line: 39 40
# expect_variables: tower/dense_1/kernel, tower/dense_2/kernel (from the skipped one on)
# symptom_today: silent: from the unused layer on, each gradient is applied to the layer before
# exit: 0
# fix: drop the pairs: [(g, v) for g, v in zip(grads, variables) if g is not None]
# seen: the warning about missing gradients silenced by a list comprehension
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(1)


class Tower(keras.Model):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = [keras.layers.Dense(width, activation="tanh", use_bias=False) for _ in range(depth)]

    def call(self, x, skip=None):
        for i, block in enumerate(self.blocks):
            if i != skip:
                x = x + block(x)
        return x


tower = Tower(4, 4)
opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((32, 4), seed=1)
tower(x)


def step(x, y, skip):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tower(x, skip=skip) - y) ** 2)
    variables = tower.trainable_variables
    grads = [g for g in tape.gradient(loss, variables) if g is not None]
    opt.apply_gradients(zip(grads, variables))
    return grads


skipped = tower.blocks[1].get_weights()[0]
last = tower.blocks[3].get_weights()[0]
step(x, tf.roll(x, 1, axis=1), skip=1)
assert not np.array_equal(skipped, tower.blocks[1].get_weights()[0])
assert np.array_equal(last, tower.blocks[3].get_weights()[0])
