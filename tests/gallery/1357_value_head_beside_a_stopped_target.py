# case: value_head_beside_a_stopped_target
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 30
# expect_variables: value/kernel, value/bias
# symptom_today: warning "Gradients do not exist for value/kernel, value/bias"; the stop_gradient on the target is right
# exit: 0
# fix: leave out .numpy(), only the target is a constant
# source: own (a target of the same network, stopped on purpose, beside a value that left)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
body = keras.layers.Dense(8, activation="tanh", name="body")
value = keras.layers.Dense(1, name="value")
decoder = keras.layers.Dense(3, name="decoder")
optimizer = keras.optimizers.Adam(0.01)
rng = np.random.default_rng(2)
for layer, width in ((body, 3), (value, 8), (decoder, 8)):
    layer.build((None, width))
weights = [*body.trainable_variables, *value.trainable_variables, *decoder.trainable_variables]
before = value.kernel.numpy()

for _ in range(5):
    now, later = rng.normal(size=(2, 16, 3)).astype("float32")
    reward = now[:, 0]
    with tf.GradientTape() as tape:
        features = body(now)
        guess = tf.squeeze(value(features), -1).numpy()
        target = reward + 0.9 * tf.stop_gradient(tf.squeeze(value(body(later)), -1))
        seen_again = tf.reduce_mean((decoder(features) - now) ** 2)
        loss = seen_again + tf.reduce_mean((target - guess) ** 2)
    gradients = tape.gradient(loss, weights)
    optimizer.apply_gradients((g, w) for g, w in zip(gradients, weights) if g is not None)
assert np.array_equal(before, value.kernel.numpy())
