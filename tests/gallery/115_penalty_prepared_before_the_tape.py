# case: penalty_prepared_before_the_tape
# verdict: bug; static: yes
# cause: outside-tape
# expect_line: 21 26
# expect_variables: mixing
# symptom_today: Keras warns about mixing; it is never changed
# exit: 0
# fix: compute the penalty inside the with block
# seen: loops that compute a regularisation term once per epoch
import keras
import numpy as np
import tensorflow as tf

readings = tf.random.normal((50, 4), seed=11)
gain = keras.Variable(np.ones((4, 1), "float32"), name="gain")
mixing = keras.Variable(np.eye(4, dtype="float32") * 1.5, name="mixing")
opt = keras.optimizers.SGD(0.01)


def orthogonality(m):
    gram = tf.matmul(m, m, transpose_a=True)
    return tf.reduce_sum(tf.square(gram - tf.eye(4)))


def epoch(weight_of_penalty):
    penalty = orthogonality(mixing.value)
    with tf.GradientTape() as tape:
        fit = tf.reduce_mean(tf.square(readings @ gain - 1.0))
        loss = fit + weight_of_penalty * penalty
    grads = tape.gradient(loss, [gain.value, mixing.value])
    opt.apply_gradients(zip(grads, [gain, mixing]))
    return loss


for _ in range(3):
    print(float(epoch(weight_of_penalty=0.1)))
assert np.array_equal(mixing.numpy(), np.eye(4, dtype="float32") * 1.5)
