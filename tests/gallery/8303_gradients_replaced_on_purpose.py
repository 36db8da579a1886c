# case: gradients_replaced_on_purpose
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: rounding lets the gradient through, a reversal turns it round, a threshold has a made-up slope
# exit: 0
# fix: -
# source: own words
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)

@tf.custom_gradient
def quantised(x):
    return tf.round(x * 4.0) / 4.0, lambda upstream: upstream

@tf.custom_gradient
def reversed_gradient(x):
    return tf.identity(x), lambda upstream: -0.1 * upstream

@tf.custom_gradient
def spike(x):
    def grad(upstream):
        return upstream / (1.0 + 5.0 * tf.abs(x)) ** 2

    return tf.cast(x > 0.0, x.dtype), grad

@tf.custom_gradient
def swish(x):
    gate = tf.sigmoid(x)
    return x * gate, lambda upstream: upstream * (gate + x * gate * (1.0 - gate))

first = tf.keras.layers.Dense(16, activation=swish)
gate = tf.keras.layers.Dense(16)
head, domain = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.Adam(0.01)
rng = np.random.default_rng(2)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
y, d = tf.sin(x[:, :1]), tf.cast(x[:, 1:2] > 0, tf.float32)

@tf.function
def train():
    with tf.GradientTape() as tape:
        hidden = quantised(first(x)) * spike(gate(x))
        told = domain(reversed_gradient(hidden))
        loss = tf.reduce_mean((head(hidden) - y) ** 2)
        loss += tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(d, told))
    variables = [v for layer in (first, gate, head, domain) for v in layer.trainable_variables]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

losses = [float(train()) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
