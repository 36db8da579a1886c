# case: running_loss_differentiated_each_time
# verdict: bug; static: no
# cause: accumulation-loss-carried-over
# expect_line: 28
# expect_variables: - (the running loss; w is all there is)
# symptom_today: silent: the first micro-batch counts three times, the last once
# exit: 0
# fix: differentiate the loss of this micro-batch; sum the losses for printing only
# seen: a total loss kept under one persistent tape
import numpy as np
import tensorflow as tf

w = tf.Variable([[1.0], [-1.0]], name="w")
batches = [tf.random.normal((4, 2), seed=s) for s in range(3)]


def mse(x):
    return tf.reduce_mean((x @ w - 1.0) ** 2)


def window(batches):
    accumulated = tf.zeros_like(w)
    running = 0.0
    with tf.GradientTape(persistent=True) as tape:
        for x in batches:
            running = running + mse(x)
            with tape.stop_recording():
                accumulated += tape.gradient(running, w)
    return accumulated / len(batches)


got = window(batches)
with tf.GradientTape() as tape:
    loss = tf.add_n([mse(x) for x in batches]) / 3.0
wanted = tape.gradient(loss, w)
w.assign_sub(0.1 * got)
print(got.numpy().ravel(), wanted.numpy().ravel())
assert not np.allclose(got, wanted)
