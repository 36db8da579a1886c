# case: module_inside_a_layer
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 18 19 28 31
# expect_variables: centres, log_width
# symptom_today: silent: the radial basis keeps its first centres
# exit: 0
# fix: make RBF a keras Layer with add_weight, or add module.trainable_variables to the list by hand
# seen: mixing Sonnet-style modules with Keras 3 layers
import keras
import numpy as np
import tensorflow as tf


class RBF(tf.Module):
    def __init__(self, centres):
        super().__init__()
        self.centres = tf.Variable(tf.linspace(-1.0, 1.0, centres), name="centres")
        self.log_width = tf.Variable(tf.zeros((centres,)), name="log_width")

    def __call__(self, x):
        return tf.exp(-tf.exp(self.log_width) * (x - self.centres) ** 2)


class BasisLayer(keras.layers.Layer):
    def __init__(self, centres, **kwargs):
        super().__init__(**kwargs)
        self.basis = RBF(centres)

    def call(self, x):
        return self.basis(x)


basis = BasisLayer(5)
model = keras.Sequential([keras.layers.Input((1,)), basis, keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.1)
x = tf.random.uniform((40, 1), -1, 1, seed=1)
old = basis.basis.centres.numpy()


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - tf.sin(3.0 * x)) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


losses = [float(step()) for _ in range(10)]
assert losses[-1] < losses[0] and np.array_equal(old, basis.basis.centres.numpy())
