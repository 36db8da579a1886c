# case: gamma_draws_that_carry_gradients
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: variational posteriors with gamma noise
import tensorflow as tf

log_shape = tf.Variable(tf.zeros((4,)), name="log_shape")
log_rate = tf.Variable(tf.zeros((4,)), name="log_rate")
optimizer = tf.keras.optimizers.Adam(0.05)
wanted = tf.constant([0.5, 1.0, 2.0, 4.0])


@tf.function
def step():
    with tf.GradientTape() as tape:
        draws = tf.random.gamma((64,), tf.exp(log_shape)) / tf.exp(log_rate)
        loss = tf.reduce_mean((tf.reduce_mean(draws, axis=0) - wanted) ** 2)
        loss += 1e-3 * tf.reduce_sum(log_shape**2)
    grads = tape.gradient(loss, [log_shape, log_rate])
    optimizer.apply_gradients(zip(grads, [log_shape, log_rate]))
    return loss


losses = [float(step()) for _ in range(40)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
