# case: warm_up_rate_frozen_at_zero
# verdict: bug; static: yes
# cause: python-state-in-graph; also: never-updated at line 25
# expect_line: 25 33
# expect_variables: - (the Python number rate; w and b never change)
# symptom_today: silent: the loss is the same in all epochs
# exit: 0
# fix: keep the rate in a tf.Variable, or pass it to the step as a tensor
# source: tensorflow/tensorflow#31323 (learning rate callable is asked once, then a cached value is used under tf.function), tensorflow/tensorflow#31324
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
PEAK, WARM = 0.1, 5
rate = 0.0
w = tf.Variable(tf.random.normal((3, 1), seed=1), name="w")
b = tf.Variable(tf.zeros((1,)), name="b")


@tf.function
def sgd_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w + b - y))
    for variable, grad in zip((w, b), tape.gradient(loss, (w, b))):
        variable.assign_sub(rate * grad)
    return loss


x = tf.random.normal((128, 3), seed=2)
y = tf.reduce_sum(x, axis=1, keepdims=True) + 1.0
history = []
for epoch in range(10):
    rate = PEAK * min(1.0, epoch / WARM)
    history.append(float(sgd_step(x, y)))
print("rate now", rate, "losses", history)
assert np.allclose(history, history[0])
