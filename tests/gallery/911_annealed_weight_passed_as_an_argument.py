# case: annealed_weight_passed_as_an_argument
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a Python float given to a traced step, which is traced again for each value
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
enc = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
dec = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)])
opt = keras.optimizers.Adam(0.01)
variables = enc.trainable_variables + dec.trainable_variables


@tf.function
def step(x, beta):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(enc(x, training=True), 2, axis=-1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        reconstruction = tf.reduce_mean(tf.reduce_sum((dec(z, training=True) - x) ** 2, axis=-1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + log_var - mean**2 - tf.exp(log_var), axis=-1))
        loss = reconstruction + beta * kl
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return reconstruction


x = tf.random.normal((64, 8), seed=0)
history = []
for epoch in range(3):
    beta = min(1.0, epoch / 2)
    history += [float(step(x, beta)) for _ in range(8)]
print(history[0], history[-1])
assert history[-1] < history[0]
