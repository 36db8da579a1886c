# case: one_bad_piece_spoils_the_window
# verdict: bug; static: no
# cause: accumulation-nonfinite | nan-log | nan-division
# expect_line: 20 27
# expect_variables: scale
# symptom_today: silent: one micro-batch with an infinite gradient, and the sum is NaN for ever
# exit: 0
# fix: leave out (or stop at) micro-batches whose gradients are not finite
# seen: long accumulation windows over noisy data
import keras
import tensorflow as tf

scale = tf.Variable(1.0, name="scale")
total = tf.Variable(0.0, trainable=False, name="total")
opt = keras.optimizers.SGD(0.1)
stream = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0], [2.0, 2.0]])


def likelihood(values):
    return -tf.reduce_mean(tf.math.log(values * scale) - values * scale)


@tf.function
def micro(values):
    with tf.GradientTape() as tape:
        loss = likelihood(values)
    total.assign_add(tape.gradient(loss, scale) / 4.0)
    return loss


for values in stream:
    micro(values)
opt.apply_gradients([(total.value(), scale)])
print(total.numpy(), scale.numpy())
assert tf.math.is_nan(scale)
