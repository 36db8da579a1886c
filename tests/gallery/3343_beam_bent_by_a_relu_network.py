# case: beam_bent_by_a_relu_network
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 16
# expect_variables: *
# symptom_today: no gradient for the last layer, zeros for the others; a warning names the last layer only
# exit: 0
# fix: an activation with curvature (tanh, swish, sin)
# source: own (the last layer gets None, and is not to blame)
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
shape = keras.Sequential(name="shape")
shape.add(keras.layers.Input((1,)))
shape.add(keras.layers.Dense(24, activation="relu"))
shape.add(keras.layers.Dense(1))
optimizer = keras.optimizers.SGD(1e-2)
along = tf.linspace(0.0, 1.0, 21)[:, tf.newaxis]


@tf.function
def bend(load):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as second:
            second.watch(along)
            with tf.GradientTape() as first:
                first.watch(along)
                height = shape(along)
            slope = first.gradient(height, along)
        curve = second.gradient(slope, along)
        misfit = tf.reduce_mean(tf.square(curve - load))
    pairs = zip(outer.gradient(misfit, shape.trainable_variables), shape.trainable_variables, strict=True)
    optimizer.apply_gradients([(gradient, variable) for gradient, variable in pairs if gradient is not None])
    return misfit


for _ in range(6):
    print(float(bend(tf.constant(-1.0))))
