# case: gradients_divided_by_their_own_norm
# verdict: bug
# cause: nan-unplaced | nan-division | nan-norm
# expect_line: 23 24
# expect_variables: gain
# symptom_today: the weights are NaN after the first update; loss and gradients were finite
# exit: 0
# fix: divide by the norm plus a small number
import keras
import tensorflow as tf

gain = tf.Variable([2.0, 3.0], name="gain")
shift = tf.Variable([1.0, 1.0], name="shift")
optimizer = keras.optimizers.SGD(0.1)
signal = tf.zeros((5, 2))


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(gain * signal + shift))
    gradients = tape.gradient(loss, [gain, shift])
    # every update should have length one
    gradients = [g / tf.norm(g) for g in gradients]
    optimizer.apply_gradients(zip(gradients, [gain, shift]))
    break
assert bool(tf.reduce_all(tf.math.is_nan(gain)))
