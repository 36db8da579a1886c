# case: standard_deviation_of_a_constant
# verdict: bug; static: yes
# cause: nan-std | nan-sqrt
# expect_line: 20
# expect_variables: generator/*
# symptom_today: silent: minibatch-stddev term is NaN in the backward pass although its value is 0
# exit: 0
# fix: tf.sqrt(variance + 1e-8)
# seen: minibatch standard deviation in GANs, diversity terms
import keras
import tensorflow as tf

generator = keras.Sequential(
    [keras.layers.Input((4,)), keras.layers.Dense(3, kernel_initializer="zeros", activation="tanh")], name="generator"
)
opt = keras.optimizers.Adam(1e-3)


def diversity(images):
    return tf.reduce_mean(tf.math.reduce_std(images, axis=0))


@tf.function
def train(noise):
    with tf.GradientTape() as tape:
        images = generator(noise, training=True)
        realism = tf.reduce_mean((images - 0.5) ** 2)
        loss = realism - 0.1 * diversity(images)
    grads = tape.gradient(loss, generator.trainable_variables)
    opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


first = train(tf.random.normal((8, 4), seed=1))
second = train(tf.random.normal((8, 4), seed=2))
print(float(first), float(second))
assert tf.math.is_finite(first) and tf.math.is_nan(second)
