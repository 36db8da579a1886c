# case: first_term_copied_into_a_constant
# verdict: bug
# cause: numpy-escape
# expect_line: 24
# expect_variables: encode, decode
# symptom_today: only the penalty trains; `decode` never moves
# exit: 0
# fix: leave out `.numpy()`: `loss = tf.reduce_mean(...)`
# source: own words
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
tf.random.set_seed(4)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
encode = tf.Variable(tf.random.normal((4, 2), stddev=0.5), name="encode")
decode = tf.Variable(tf.random.normal((2, 4), stddev=0.5), name="decode")
first = decode.numpy().copy()


def step():
    with tf.GradientTape() as tape:
        code = x @ encode
        loss = tf.constant(tf.reduce_mean((code @ decode - x) ** 2).numpy())
        loss += tf.reduce_mean(code**2)
    for variable, gradient in zip([encode, decode], tape.gradient(loss, [encode, decode])):
        if gradient is not None:
            variable.assign_sub(0.05 * gradient)


for _ in range(8):
    step()
assert np.array_equal(first, decode.numpy())
