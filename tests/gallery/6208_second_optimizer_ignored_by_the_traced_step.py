# case: second_optimizer_ignored_by_the_traced_step
# verdict: bug; static: yes
# cause: python-state-in-graph|optimizer-variable-mismatch
# expect_line: 25 36 38
# expect_variables: - (the optimizer that was replaced)
# symptom_today: silent: the traced step goes on with the first optimizer, the second has done no step
# exit: 0
# fix: pass the optimizer as an argument, or make a new tf.function for each phase
# source: tensorflow/tensorflow#34316 (tf.function after replacing the optimiser)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name="net")
optimizer = keras.optimizers.SGD(0.05)
mse = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(64, 3)), tf.float32)
y = tf.reduce_sum(x, 1, keepdims=True)
for step in range(10):
    train_step(x, y)
warm = optimizer

optimizer = keras.optimizers.SGD(1e-4)
for step in range(10):
    loss = train_step(x, y)
print("loss", float(loss), "steps of the first", int(warm.iterations), "and of the second", int(optimizer.iterations))
assert int(optimizer.iterations) == 0 and int(warm.iterations) == 20
