# case: hessian_of_a_flattened_copy
# verdict: bug; static: no
# cause: wrong-source-object|unwatched-source
# expect_line: 25 30 28 29
# expect_variables: theta (a flattened copy of the parameters)
# symptom_today: raises ValueError: Attempt to convert a value (None) ... to a Tensor
# exit: 1 (ValueError)
# fix: make the flat vector the thing the model is evaluated with (unflatten it inside the tape), or take the gradient of the variables and flatten that
# source: tensorflow/tensorflow#47387 (moved from tf.gradients, tape returns None whatever is watched)
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
x = tf.random.normal((16, 3), seed=0)
y = tf.sin(tf.reduce_sum(x, axis=1, keepdims=True))


def flatten(variables):
    return tf.concat([tf.reshape(v, [-1]) for v in variables], axis=0)


def curvature(direction):
    with tf.GradientTape() as outer:
        theta = flatten(net.trainable_variables)
        outer.watch(theta)
        with tf.GradientTape() as inner:
            inner.watch(theta)
            loss = tf.reduce_mean(tf.square(net(x) - y))
        slope = inner.gradient(loss, theta)
        along = tf.reduce_sum(slope * direction)
    return outer.gradient(along, theta)


size = sum(int(tf.size(v)) for v in net.trainable_variables)
print(curvature(tf.ones(size) / size ** 0.5))
