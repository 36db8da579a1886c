# case: thawed_between_two_micro_batches
# verdict: bug; static: no
# cause: accumulation-variable-drift
# expect_line: 31 32 20 25
# expect_variables: base/*, head/* (sums of the head land on the base)
# symptom_today: raises InvalidArgumentError: Cannot update variable with shape [6,1] using a Tensor with shape [4,6]
# exit: 1 (InvalidArgumentError)
# fix: keep one fixed list of variables for the whole run, or make new slots when layers are thawed
# source: own words, after reports on gradual unfreezing together with accumulation slots
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
base = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="relu")], name="base")
head = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)], name="head")
model = keras.Sequential([keras.Input((4,)), base, head])
base.trainable = False
opt = keras.optimizers.SGD(0.05)
slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
rng = np.random.default_rng(0)

for step in range(12):
    if step == 6:
        base.trainable = True
    x = rng.normal(size=(8, 4)).astype("float32")
    y = x.sum(1, keepdims=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y)) / 4.0
    grads = tape.gradient(loss, model.trainable_variables)
    for slot, g in zip(slots, grads):
        slot.assign_add(g)
    if (step + 1) % 4 == 0:
        opt.apply_gradients(zip(slots, model.trainable_variables))
        for slot in slots:
            slot.assign(tf.zeros_like(slot))
        print(step, float(loss) * 4)
