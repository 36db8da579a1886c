# case: gamma_and_normal_draws_with_parameters
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (tf.random.gamma and tf.random.normal differentiate with respect to their parameters)
import tensorflow as tf
import keras

tf.random.set_seed(0)
log_shape = tf.Variable(0.0, name="log_shape")
log_rate = tf.Variable(0.0, name="log_rate")
loc = tf.Variable(-1.0, name="loc")
log_scale = tf.Variable(0.0, name="log_scale")
params = [log_shape, log_rate, loc, log_scale]
opt = keras.optimizers.Adam(0.05)


def simulate(n):
    waiting = tf.random.gamma([n], alpha=tf.exp(log_shape), beta=tf.exp(log_rate))      # implicit reparameterisation
    jump = tf.random.normal([n], mean=loc, stddev=tf.exp(log_scale))                    # mean + stddev * noise
    return waiting, jump


history = []
for step in range(80):
    with tf.GradientTape() as tape:
        waiting, jump = simulate(256)
        loss = (tf.square(tf.reduce_mean(waiting) - 3.0) + tf.square(tf.math.reduce_std(waiting) - 1.0)
                + tf.square(tf.reduce_mean(jump) - 2.0) + tf.square(tf.math.reduce_std(jump) - 0.5))
    grads = tape.gradient(loss, params)
    assert all(g is not None for g in grads)
    opt.apply_gradients(zip(grads, params))
    history.append(float(loss))
assert history[-1] < 0.2 * history[0]
print("ok", history[0], history[-1])
