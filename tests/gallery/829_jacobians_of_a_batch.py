# case: jacobians_of_a_batch
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: contractive autoencoders
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
encoder = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(3, activation="sigmoid")])
decoder = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(5)])
variables = encoder.trainable_variables + decoder.trainable_variables
opt = keras.optimizers.Adam(0.02)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = encoder(x)
        jacobian = inner.batch_jacobian(z, x)
        loss = tf.reduce_mean((decoder(z) - x) ** 2) + 0.1 * tf.reduce_mean(tf.reduce_sum(jacobian**2, (1, 2)))
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


x = tf.random.normal((24, 5), seed=4)
losses = [float(step(x)) for _ in range(12)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
