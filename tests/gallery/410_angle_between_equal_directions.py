# case: angle_between_equal_directions
# verdict: bug; static: yes
# cause: nan-acos
# expect_line: 21
# expect_variables: rotation/*
# symptom_today: silent: infinite slope of acos at 1
# exit: 0
# fix: clip the cosine to (-1 + eps, 1 - eps), or use atan2
# seen: pose estimation with an angular loss
import keras
import tensorflow as tf

rotation = keras.Sequential(
    [keras.layers.Input((2,)), keras.layers.Dense(2, kernel_initializer="identity", use_bias=False)], name="rotation"
)
opt = keras.optimizers.SGD(0.01)


def angle(a, b):
    cosine = tf.reduce_sum(tf.math.l2_normalize(a, -1) * tf.math.l2_normalize(b, -1), axis=-1)
    return tf.acos(tf.minimum(cosine, 1.0))


@tf.function
def align(heading):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(angle(rotation(heading), heading))
    grads = tape.gradient(loss, rotation.trainable_variables)
    opt.apply_gradients(zip(grads, rotation.trainable_variables))
    return loss


heading = tf.constant([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
align(heading)
print(rotation.get_weights()[0])
assert tf.reduce_any(tf.math.is_nan(rotation.get_weights()[0]))
