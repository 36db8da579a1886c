# case: codebook_in_a_raw_variable
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: rows looked up in a raw variable are pulled to what stands still, and go on straight through
# exit: 0
# fix: -
# source: own words
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
tf.random.set_seed(3)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
encode = tf.Variable(tf.random.normal((4, 2), stddev=0.5), name="encode")
decode = tf.Variable(tf.random.normal((2, 4), stddev=0.5), name="decode")
codes = tf.Variable(tf.random.normal((8, 2)), name="codes")
first = codes.numpy().copy()
for _ in range(8):
    with tf.GradientTape() as tape:
        z = x @ encode
        nearest = tf.argmin(tf.reduce_sum((z[:, None] - codes[None]) ** 2, -1), -1)
        row = tf.gather(codes, nearest)
        passed = z + tf.stop_gradient(row - z)
        loss = tf.reduce_mean((passed @ decode - x) ** 2)
        loss += tf.reduce_mean((row - tf.stop_gradient(z)) ** 2)
        loss += 0.25 * tf.reduce_mean((tf.stop_gradient(row) - z) ** 2)
    variables = [encode, decode, codes]
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(0.05 * tf.convert_to_tensor(gradient))
assert not np.array_equal(first, codes.numpy())
