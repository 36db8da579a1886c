# case: running_mean_created_in_the_traced_step
# verdict: bug; static: yes
# cause: variable-created-in-tf-function
# expect_line: 22 36
# expect_variables: - (the metric's total and count are never made)
# symptom_today: raises ValueError: tf.function only supports singleton tf.Variables created on the first call
# exit: 1 (ValueError)
# fix: create the metric once, outside the traced function
# source: tensorflow/tensorflow#27120 (variables on non-first call)
import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(0)
model = tf_keras.Sequential([tf_keras.layers.Input((3,)), tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1)])
opt = tf_keras.optimizers.Adam(1e-2)
opt.build(model.trainable_variables)


@tf.function
def run_epoch(batches_x, batches_y):
    mean = tf_keras.metrics.Mean()
    for x, y in zip(tf.unstack(batches_x), tf.unstack(batches_y)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        mean.update_state(loss)
    return mean.result()


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(4, 16, 3)), tf.float32)
y = tf.reduce_sum(x, -1, keepdims=True)
for epoch in range(2):
    print(epoch, float(run_epoch(x, y)))
