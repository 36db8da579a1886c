# case: minimax_generator_against_a_certain_critic
# verdict: bug; static: no
# cause: nan-log
# expect_line: 24
# expect_variables: generator/*
# symptom_today: silent: the loss is -inf and the generator becomes NaN
# exit: 0
# fix: work on the logits: tf.nn.sigmoid_cross_entropy_with_logits
# source: nlintz/TensorFlow-Tutorials#84 (log(0) in the GAN objective), MorvanZhou/Tensorflow-Tutorial#15
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)
generator = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)], name="generator")
critic = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="relu"),
                           keras.layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(25.0))], name="critic")
g_opt = keras.optimizers.Adam(1e-3)


@tf.function
def generator_step(noise):
    with tf.GradientTape() as tape:
        fooled = critic(generator(noise, training=True), training=False)
        loss = tf.reduce_mean(tf.math.log(1.0 - fooled))
    grads = tape.gradient(loss, generator.trainable_variables)
    g_opt.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


for step in range(3):
    print(step, float(generator_step(tf.random.normal((16, 4)))))
assert bool(tf.reduce_any(tf.math.is_nan(generator.trainable_variables[0])))
