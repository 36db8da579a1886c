# case: slots_reset_in_name_only
# verdict: bug; static: yes
# cause: accumulation-not-reset | variable-rebound
# expect_line: 25 30 32
# expect_variables: dense/*, dense_1/* (every slot)
# symptom_today: silent: the loop variable is rebound, the slots keep the old sums
# exit: 0
# fix: slot.assign(tf.zeros_like(slot))
# seen: accumulation loops with for slot in slots: slot = zeros
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
STEPS = 4


def micro_batch(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2) / STEPS
    for slot, grad in zip(slots, tape.gradient(loss, model.trainable_variables)):
        slot.assign_add(grad)
    return loss


def update():
    optimizer.apply_gradients(zip(slots, model.trainable_variables))
    for slot in slots:
        slot = tf.zeros_like(slot)


data = tf.random.normal((64, 5), seed=3)
for i in range(8):
    x = data[i * 8 : i * 8 + 8]
    micro_batch(x, tf.reduce_sum(x, axis=1, keepdims=True))
    if (i + 1) % STEPS == 0:
        update()
assert all(np.any(slot.numpy() != 0) for slot in slots)
