# case: saliency_of_normalised_scores
# verdict: bug; static: no
# cause: numpy-escape
# expect_line: 22
# expect_variables: x
# symptom_today: batch_jacobian returns zeros, not None; no message
# exit: 0
# fix: normalise the scores with tf.linalg.norm
# source: own (batch_jacobian)
import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
w1 = tf.Variable(tf.random.normal((6, 8)) * 0.4, name="w1")
w2 = tf.Variable(tf.random.normal((8, 4)) * 0.4, name="w2")


def saliency(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        scores = tf.nn.relu(x @ w1) @ w2
        length = scores.numpy()
        shares = tf.convert_to_tensor(length / np.linalg.norm(length, axis=1, keepdims=True))
    return tape.batch_jacobian(shares, x)


x = tf.random.normal((5, 6))
print(tf.norm(saliency(x), axis=(1, 2)).numpy())
