# case: shapes_that_differ_outside_of_training
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the exceptions are caught, gradients of different variables are multiplied and joined on purpose
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf

weight = tf.Variable(tf.ones((3, 2)), name="weight")
bias = tf.Variable(tf.zeros((2,)), name="bias")
x = tf.constant(np.random.rand(4, 3), tf.float32)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weight + bias - 1.0) ** 2)
    first, second = tape.gradient(loss, [weight, bias])
    try:
        print(first + tf.ones((5, 7)))
    except tf.errors.InvalidArgumentError:
        print("no such sum")
    flat = tf.concat([tf.reshape(first, [-1]), second], axis=0)
    print(float(tf.norm(flat)), float(tf.reduce_sum(first * second)))
    weight.assign_sub(0.1 * first)
    bias.assign_sub(0.1 * second)
