# case: complex_error_cast_to_float
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 30
# expect_variables: inductance, capacity (gradient exactly 0)
# symptom_today: log line 'You are casting an input of type complex64 to an incompatible dtype float32'; inductance and capacity never move
# exit: 0
# fix: square the modulus: tf.square(tf.abs(error)), or real and imaginary part
# source: tensorflow/tensorflow#3850 and #2818 (gradient of the imaginary part is silently zero)
import numpy as np
import tensorflow as tf
import keras

omega = tf.constant(np.linspace(0.5, 3.0, 24).astype("float32"))
resistance = tf.Variable(1.0, name="resistance")
inductance = tf.Variable(0.2, name="inductance")
capacity = tf.Variable(1.0, name="capacity")
parameters = [resistance, inductance, capacity]


def impedance(r, l, c):
    return tf.complex(r * tf.ones_like(omega), omega * l - 1.0 / (omega * c))


measured = impedance(2.0, 0.8, 0.5)
opt = keras.optimizers.SGD(0.1)
for step in range(5):
    with tf.GradientTape() as tape:
        error = impedance(*parameters) - measured
        loss = tf.reduce_mean(tf.square(tf.cast(error, tf.float32)))
    grads = tape.gradient(loss, parameters)
    opt.apply_gradients(zip(grads, parameters))
    print(step, float(loss), [float(g) for g in grads])
assert float(grads[1]) == 0.0 and float(grads[2]) == 0.0
