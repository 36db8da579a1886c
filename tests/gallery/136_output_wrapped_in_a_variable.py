# case: output_wrapped_in_a_variable
# verdict: bug; static: yes
# cause: assign-breaks-gradient
# expect_line: 18
# expect_variables: warp/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: build the result with tf.tensor_scatter_nd_update or tf.concat instead of a variable
# seen: code that needs item assignment on a prediction
import keras
import tensorflow as tf

warp = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(4, activation="tanh")], name="warp")
opt = keras.optimizers.Nadam(1e-3)


def pin_ends(curve):
    editable = tf.Variable(curve)
    editable[:, 0].assign(tf.zeros(tf.shape(curve)[:1]))
    editable[:, -1].assign(tf.ones(tf.shape(curve)[:1]))
    return editable


points = tf.random.normal((9, 4), seed=4)
with tf.GradientTape() as tape:
    curve = pin_ends(warp(points))
    loss = tf.reduce_mean(tf.square(curve - points))
grads = tape.gradient(loss, warp.trainable_variables)
opt.apply_gradients(zip(grads, warp.trainable_variables))
