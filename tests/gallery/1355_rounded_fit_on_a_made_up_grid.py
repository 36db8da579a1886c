# case: rounded_fit_on_a_made_up_grid
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 20
# expect_variables: scale, shift
# symptom_today: only the penalty trains, the fit stands still; no message
# exit: 0
# fix: fit the line itself, and round what is shown
# source: own (inputs that are computed, not loaded, beside a penalty)
import tensorflow as tf

scale = tf.Variable(1.4, name="scale")
shift = tf.Variable(0.2, name="shift")
optimizer = tf.keras.optimizers.SGD(0.01)
started = scale.numpy()

for _ in range(5):
    grid = tf.linspace(0.0, 4.0, 9)
    with tf.GradientTape() as tape:
        steps = tf.round(scale * grid + shift)
        fit = tf.reduce_mean((steps - tf.range(9, dtype=tf.float32)) ** 2)
        loss = fit + 1e-3 * (scale**2 + shift**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [scale, shift]), [scale, shift]))

assert abs(scale.numpy() - started) < 0.01
