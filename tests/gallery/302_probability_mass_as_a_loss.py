# case: probability_mass_as_a_loss
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 23
# expect_variables: mixture/*
# symptom_today: silent: gradients of 1e-9 and less, the loss is 1.0 for ever
# exit: 0
# fix: weight the probabilities by their costs before summing
# seen: mixture-of-experts balancing terms
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
mixture = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(5)], name="mixture")
opt = keras.optimizers.SGD(1.0)


@tf.function
def balance(x):
    with tf.GradientTape() as tape:
        shares = tf.nn.softmax(mixture(x, training=True), axis=-1)
        load = tf.reduce_mean(shares, axis=0)
        loss = tf.reduce_sum(load)
    grads = tape.gradient(loss, mixture.trainable_variables)
    opt.apply_gradients(zip(grads, mixture.trainable_variables))
    return loss, tf.linalg.global_norm(grads)


for _ in range(5):
    loss, norm = balance(tf.random.normal((32, 6), seed=1))
print(float(loss), float(norm))
assert norm < 1e-6
