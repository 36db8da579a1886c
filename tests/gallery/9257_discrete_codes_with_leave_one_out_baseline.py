# case: discrete_codes_with_leave_one_out_baseline
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (RLOO pattern)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
encoder = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)], name="encoder")
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(6)], name="decoder")
opt = keras.optimizers.Adam(1e-2)
k = 4


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        logits = encoder(x, training=True)
        code = tf.stop_gradient(tf.transpose(tf.random.categorical(logits, k, seed=1)))
        one_hot = tf.one_hot(code, 4)
        out = tf.reshape(decoder(tf.reshape(one_hot, (-1, 4)), training=True), (k, -1, 6))
        cost = tf.reduce_sum(tf.square(out - x[None]), -1)
        log_p = tf.reduce_sum(one_hot * tf.nn.log_softmax(logits)[None], -1)
        total = tf.reduce_sum(cost, 0, keepdims=True)
        baseline = (total - cost) / (k - 1)
        score = tf.reduce_mean(tf.stop_gradient(cost - baseline) * log_p)
        loss = tf.reduce_mean(cost) + score
    params = encoder.trainable_variables + decoder.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return tf.reduce_mean(cost)


rng = np.random.default_rng(0)
centres = 2.0 * rng.normal(size=(4, 6))
x = tf.constant(centres[rng.integers(0, 4, 64)], tf.float32)
log = [float(step(x)) for _ in range(80)]
print(log[0], log[-1])
assert log[-1] < log[0]
