# case: three_scalars_in_a_list
# verdict: bug
# cause: non-differentiable-op
# expect_line: 17
# expect_variables: offset, slope, bend
# symptom_today: gradients are None
# exit: 0
# fix: leave the rounding out of the loss
# seen: a curve whose parameters are scalars
import tensorflow as tf

offset, slope, bend = (tf.Variable(start, name=name) for start, name in ((1.0, "offset"), (0.5, "slope"), (0.1, "bend")))
t = tf.linspace(0.0, 1.0, 8)
powers = tf.stack([tf.ones(8), t, t**2], axis=1)
with tf.GradientTape() as tape:
    curve = tf.linalg.matvec(powers, [offset, slope, bend])
    loss = tf.reduce_mean((tf.round(curve) - t) ** 2)
assert tape.gradient(loss, [offset, slope, bend]) == [None, None, None]
