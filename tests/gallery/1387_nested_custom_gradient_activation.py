# case: nested_custom_gradient_activation
# verdict: bug
# cause: custom-gradient
# expect_line: 23 24 30 32 61 65
# expect_variables: -
# symptom_today: the second derivative of the network with respect to x is None, and the residual of the equation raises an error on the first step
# exit: 1
# fix: make the first derivative a function of its own of x and dy with its own custom gradient for both (or leave the inner decorator away), so that the slope still depends on x
# source: tensorflow issues 34503 and 36168 (nested tf.custom_gradient: the second order gradient is None)
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(19)


@tf.custom_gradient
def log_cosh(x):
    """log(cosh(x)) that does not overflow, with hand written derivatives."""
    value = tf.abs(x) + tf.nn.softplus(-2.0 * tf.abs(x)) - float(np.log(2.0))

    @tf.custom_gradient
    def slope(dy):
        th = tf.tanh(x)

        def bend(ddy):
            return ddy * th + ddy * dy * (1.0 - tf.square(th))

        return dy * th, bend

    return value, slope


class Deflection(keras.layers.Layer):
    """String under load: w'' = f(x), w(0) = w(1) = 0."""

    def __init__(self, width=24):
        super().__init__(name="deflection")
        self.first = keras.layers.Dense(width, name="first")
        self.second = keras.layers.Dense(width, name="second")
        self.last = keras.layers.Dense(1, name="last")

    def call(self, x):
        h = log_cosh(self.first(2.0 * x - 1.0))
        h = log_cosh(self.second(h))
        return self.last(h)


def load(x):
    return -np.pi ** 2 * tf.sin(np.pi * x)


def curvature(w_fn, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            w = w_fn(x)
        slope = inner.gradient(w, x)
    return outer.gradient(slope, x)


def physics_loss(w_fn, x_in, x_edge):
    residual = curvature(w_fn, x_in) - load(x_in)
    edge = w_fn(x_edge)
    return tf.reduce_mean(tf.square(residual)) / np.pi ** 4 + tf.reduce_mean(tf.square(edge))


def train(steps=300, lr=5e-3):
    w_fn = Deflection()
    opt = keras.optimizers.Adam(lr)
    x_in = tf.reshape(tf.linspace(0.01, 0.99, 64), [-1, 1])
    x_edge = tf.constant([[0.0], [1.0]])
    w_fn(x_edge)
    losses = []
    for step in range(steps):
        with tf.GradientTape() as tape:
            loss = physics_loss(w_fn, x_in, x_edge)
        grads = tape.gradient(loss, w_fn.trainable_variables)
        opt.apply_gradients(zip(grads, w_fn.trainable_variables))
        losses.append(float(loss))
        if step % 100 == 0:
            print(f"{step:4d} {losses[-1]:.5f}")
    return w_fn, losses


if __name__ == "__main__":
    w_fn, losses = train()
    grid = np.linspace(0.0, 1.0, 50).astype("float32")[:, None]
    print("worst error", np.abs(w_fn(grid).numpy() - np.sin(np.pi * grid)).max())
    assert losses[-1] < 0.01 * losses[0]
