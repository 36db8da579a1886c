# case: whitened_features_before_the_head
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 24
# expect_variables: encoder/*
# symptom_today: silent: no warning; the head learns, the encoder only shrinks by the weight penalty
# exit: 0
# fix: whiten with tf.reduce_mean and tf.math.reduce_std, or use a BatchNormalization layer
# seen: terms of the loss: cross entropy (cut from encoder), 1e-3 * penalty (reaches all)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
encoder = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="tanh", use_bias=False), keras.layers.Dense(6, use_bias=False)],
    name="encoder",
)
head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)], name="head")
optimizer = keras.optimizers.SGD(0.05)


def whiten(features):
    values = features.numpy()
    centred = values - values.mean(axis=0)
    scaled = centred / (values.std(axis=0) + 1e-6)
    return tf.convert_to_tensor(scaled)


def batches(x, y, size=32):
    for i in range(0, len(x), size):
        yield tf.constant(x[i : i + size]), tf.constant(y[i : i + size])


rng = np.random.default_rng(11)
x = rng.normal(size=(128, 8)).astype("float32")
y = np.argmax(x[:, :3] * x[:, 3:6], axis=1)
first = encoder.get_weights()[1].copy()
variables = encoder.trainable_variables + head.trainable_variables
for epoch in range(3):
    for xb, yb in batches(x, y):
        with tf.GradientTape() as tape:
            logits = head(whiten(encoder(xb)))
            ce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, logits))
            penalty = tf.add_n([tf.reduce_sum(tf.square(v)) for v in variables])
            loss = ce + 1e-3 * penalty
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    print(f"epoch {epoch}: cross entropy {float(ce):.3f}, penalty {float(penalty):.3f}")
last = encoder.get_weights()[1]
cosine = np.sum(first * last) / np.linalg.norm(first) / np.linalg.norm(last)
assert cosine > 0.99999 and np.linalg.norm(last) < np.linalg.norm(first)
