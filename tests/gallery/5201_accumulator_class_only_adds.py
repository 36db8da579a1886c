# case: accumulator_class_only_adds
# verdict: bug; static: no
# cause: accumulation-no-averaging
# expect_line: 24 28 58
# expect_variables: net/* (each update is 8 times that of the full batch)
# symptom_today: silent: the applied gradient is 8 times that of the full batch
# exit: 0
# fix: divide by the number of micro-batches (self.count) when the gradients are handed out
# source: bojone/bert4keras#238 (must the accumulated gradient be divided? answer: the mean, not the sum), fastai/fastai#3023 and NVIDIA/DeepLearningExamples#713 (gradients scale with the number of accumulation steps)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class GradientAccumulator:
    def __init__(self, variables):
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]
        self.count = tf.Variable(0, dtype=tf.int64)

    def add(self, grads):
        for slot, grad in zip(self.slots, grads):
            slot.assign_add(grad)
        self.count.assign_add(1)

    def take(self):
        values = [tf.identity(slot) for slot in self.slots]
        for slot in self.slots:
            slot.assign(tf.zeros_like(slot))
        self.count.assign(0)
        return values


net = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(1)], name="net")
opt = keras.optimizers.SGD(0.02)
acc = GradientAccumulator(net.trainable_variables)


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    acc.add(tape.gradient(loss, net.trainable_variables))
    return loss


x = tf.random.normal((64, 6), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
with tf.GradientTape() as tape:
    whole = tf.reduce_mean(tf.square(net(x, training=True) - y))
reference = tf.linalg.global_norm(tape.gradient(whole, net.trainable_variables))
factors = []
for update in range(6):
    parts = [micro_step(a, b) for a, b in zip(tf.split(x, 8), tf.split(y, 8))]
    grads = acc.take()
    factors.append(float(tf.linalg.global_norm(grads) / reference))
    opt.apply_gradients(zip(grads, net.trainable_variables))
    print("update", update, "loss", float(tf.add_n(parts)) / 8)
print("first update against the full batch:", factors[0])
assert abs(factors[0] - 8.0) < 1e-2
