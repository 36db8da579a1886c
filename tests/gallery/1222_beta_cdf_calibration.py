# case: beta_cdf_calibration
# verdict: bug; static: no
# cause: no-registered-gradient | non-differentiable-op
# expect_line: 25
# expect_variables: a_raw, b_raw
# symptom_today: UserWarning: Gradients do not exist for variables ['a_raw:0', 'b_raw:0'] when minimizing the loss; only scale moves
# exit: 0
# fix: betainc only has a gradient for x: use tfp.math.betainc (which has the partial derivatives of a and b)
# source: tensorflow/probability#1580 and jax-ml/jax#15487 (betainc: no derivative for a and b)
import numpy as np
import tensorflow as tf
import keras

a_raw = tf.Variable(0.5, name="a_raw")
b_raw = tf.Variable(0.5, name="b_raw")
scale = tf.Variable(1.0, name="scale")
params = [a_raw, b_raw, scale]
opt = keras.optimizers.Adam(0.05)


def calibrate(p):
    """Beta calibration: push scores through the distribution function of a Beta(a, b)."""
    a = tf.nn.softplus(a_raw) * tf.ones_like(p)
    b = tf.nn.softplus(b_raw) * tf.ones_like(p)
    return tf.math.betainc(a, b, p)


rng = np.random.default_rng(1)
scores = tf.constant(rng.uniform(0.02, 0.98, size=200).astype("float32"))
hits = tf.constant((rng.uniform(size=200) < scores.numpy() ** 2).astype("float32"))

for step in range(4):
    with tf.GradientTape() as tape:
        q = tf.clip_by_value(scale * calibrate(scores), 1e-4, 1 - 1e-4)
        brier = tf.reduce_mean(tf.square(q - hits))
    opt.apply_gradients(zip(tape.gradient(brier, params), params))
    print(step, float(brier), [float(v) for v in params])
