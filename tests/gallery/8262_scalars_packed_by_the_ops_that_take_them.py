# case: scalars_packed_by_the_ops_that_take_them
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a curve whose parameters are scalars
import tensorflow as tf

offset, slope, bend = (tf.Variable(start, name=name) for start, name in ((1.0, "offset"), (0.5, "slope"), (0.1, "bend")))
t = tf.linspace(0.0, 1.0, 8)
powers = tf.stack([tf.ones(8), t, t**2], axis=1)
losses = []
for _ in range(12):
    with tf.GradientTape() as tape:
        curve = tf.linalg.matvec(powers, [offset, slope, bend])
        loss = tf.reduce_mean((curve - t) ** 2) + 1e-3 * tf.reduce_sum(tf.square([offset, slope, bend]))
    for v, g in zip((offset, slope, bend), tape.gradient(loss, [offset, slope, bend])):
        v.assign_sub(0.2 * g)
    losses.append(float(loss))
assert losses[-1] < losses[0]
