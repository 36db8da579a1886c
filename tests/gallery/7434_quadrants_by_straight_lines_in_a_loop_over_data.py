# case: quadrants_by_straight_lines_in_a_loop_over_data
# verdict: bug; static: no
# cause: stack-without-activation
# expect_line: 19
# expect_variables: - (the fault is not one of variables)
# symptom_today: the loss stays at log 2
# exit: 0
# fix: an activation in the hidden layers
# seen: the whole epoch is one function
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(34)
points = tf.random.uniform((512, 2), -1.0, 1.0)
same = tf.cast(points[:, :1] * points[:, 1:] > 0, tf.float32)
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(32),
    keras.layers.Dense(32),
    keras.layers.Dense(1),
])
loss_of = keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def epoch(data):
    loss = 0.0
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((points, same)).batch(64)
for _ in range(25):
    loss = epoch(data)
assert loss > 0.6
