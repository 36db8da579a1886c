# case: slope_of_swish_without_its_second_term
# verdict: bug; static: no
# cause: wrong-custom-gradient
# expect_line: 19 20 21
# expect_variables: -
# symptom_today: silent: the loss falls, by a gradient that is not that of the loss
# exit: 0
# fix: return upstream * (gate + x * gate * (1 - gate))
# source: own words, after reports of activations with a memory-saving gradient written by hand
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)

@tf.custom_gradient
def swish(x):
    gate = tf.sigmoid(x)

    def grad(upstream):
        # the product rule was applied to one factor only
        return upstream * x * gate * (1.0 - gate)

    return x * gate, grad

net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation=swish), tf.keras.layers.Dense(1)])
rng = np.random.default_rng(2)
x = rng.normal(size=(64, 4)).astype("float32")
y = np.sin(x[:, :1])
net.compile(tf.keras.optimizers.Adam(0.01), "mse")
net.fit(x, y, epochs=3, verbose=0)

t = tf.constant([0.7])
with tf.GradientTape() as tape:
    tape.watch(t)
    out = swish(t)
slope = float(swish(t + 1e-2)[0] - swish(t - 1e-2)[0]) / 2e-2
assert abs(float(tape.gradient(out, t)[0]) - slope) > 0.1
