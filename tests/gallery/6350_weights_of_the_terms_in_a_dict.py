# case: weights_of_the_terms_in_a_dict
# verdict: bug
# cause: python-state-in-graph
# expect_line: 26 35
# expect_variables: -
# symptom_today: trains; the second term never counts, whatever the schedule says
# exit: 0
# fix: hold the weights in variables, or hand them in as tensors
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)
encoder = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(3, activation="tanh")])
decoder = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(6)])
optimizer = keras.optimizers.Adam(0.01)
share = {"rebuild": 1.0, "spread": 0.0}
pictures = np.random.default_rng(2).normal(size=(32, 6)).astype("float32")


@tf.function
def learn(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch)
        rebuild = tf.reduce_mean((decoder(code) - batch) ** 2)
        loss = share["rebuild"] * rebuild - share["spread"] * tf.math.reduce_variance(code)
    weights = encoder.trainable_variables + decoder.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss, rebuild


gaps = []
for epoch in range(6):
    # the spread should count more and more
    share["spread"] = 0.1 * epoch
    loss, rebuild = learn(pictures)
    gaps.append(float(loss - rebuild))
assert max(map(abs, gaps)) < 1e-6
