# case: accumulation_in_slots
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: gradient accumulation with variables, tf.function and a reset
import keras
import numpy as np
import tensorflow as tf

EVERY = 4
keras.utils.set_random_seed(7)
net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in net.trainable_variables]
opt = keras.optimizers.Adam(0.01)


@tf.function
def micro(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    for slot, g in zip(slots, tape.gradient(loss, net.trainable_variables)):
        slot.assign_add(g / EVERY)
    return loss


@tf.function
def update():
    opt.apply_gradients(zip(slots, net.trainable_variables))
    for slot in slots:
        slot.assign(tf.zeros_like(slot))


x = tf.random.normal((128, 5), seed=2)
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(8)
losses = []
for number, batch in enumerate(data.repeat(3), start=1):
    losses.append(float(micro(*batch)))
    if number % EVERY == 0:
        update()
print(np.mean(losses[:8]), np.mean(losses[-8:]))
assert np.mean(losses[-8:]) < np.mean(losses[:8])
