# case: global_step_counter_in_a_traced_function
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 22 23 27
# expect_variables: - (the learning rate of the warm-up)
# symptom_today: silent: the counter is read at tracing, so the rate stays at its first value
# exit: 0
# fix: a tf.Variable counter, or a LearningRateSchedule
# seen: hand-written warm-up
import keras
import numpy as np
import tensorflow as tf

step = 0
weights = tf.Variable(tf.ones((3, 1)), name="weights")
opt = keras.optimizers.SGD(1.0)


@tf.function
def train(x, y):
    global step
    step += 1
    warm = min(1.0, step / 100)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weights - y) ** 2)
    g = tape.gradient(loss, weights)
    opt.apply_gradients([(warm * g, weights)])
    return tf.norm(warm * g) / tf.norm(g)


x = tf.random.normal((20, 3), seed=1)
ratios = [float(train(x, x[:, :1])) for _ in range(10)]
print(ratios, step)
assert np.allclose(ratios, 0.01) and step == 1
