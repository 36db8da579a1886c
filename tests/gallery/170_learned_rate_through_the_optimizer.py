# case: learned_rate_through_the_optimizer
# verdict: bug; static: no
# cause: assign-breaks-gradient | outside-tape | variable-not-in-loss
# expect_line: 30 31 32
# expect_variables: log_rate
# symptom_today: the gradient of log_rate is None, the update raises TypeError
# exit: 1 (TypeError)
# fix: take the inner step with tensors (w - rate * g) and evaluate the loss with them
# seen: hypergradient descent and meta-learned step sizes
import keras
import tensorflow as tf

w = tf.Variable([[0.5], [-0.3]], name="w")
log_rate = tf.Variable(-2.0, name="log_rate")
inner_opt = keras.optimizers.SGD(0.1)
x = tf.random.normal((24, 2), seed=5)
y = tf.reduce_sum(x, axis=1, keepdims=True)
x_val, y_val = x[:8], y[:8]


def mse(inputs, targets):
    return tf.reduce_mean((inputs @ w - targets) ** 2)


for outer in range(3):
    with tf.GradientTape() as meta_tape:
        with tf.GradientTape() as tape:
            inner_loss = mse(x[8:], y[8:])
        grad = tape.gradient(inner_loss, w)
        inner_opt.apply_gradients([(tf.exp(log_rate) / 0.1 * grad, w)])
        outer_loss = mse(x_val, y_val)
    hyper = meta_tape.gradient(outer_loss, log_rate)
    log_rate.assign_sub(0.1 * hyper)
