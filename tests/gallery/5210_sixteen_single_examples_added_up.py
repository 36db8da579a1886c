# case: sixteen_single_examples_added_up
# verdict: bug; static: no
# cause: accumulation-no-averaging
# expect_line: 34 29
# expect_variables: sequential/*
# symptom_today: silent: the update is sixteen times the one of a batch of sixteen, the loss grows
# exit: 0
# fix: divide the sums by the number of examples before apply_gradients
# source: tensorflow/tensorflow#55478, andreped/GradientAccumulator#2 (accumulated training does not match the large batch)
import tensorflow as tf
import keras

keras.utils.set_random_seed(25)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)       # the rate that was tuned for batches of 16
x = tf.random.normal((64, 3))
y = tf.reduce_sum(x, axis=1, keepdims=True)
examples = tf.data.Dataset.from_tensor_slices((x, y)).batch(1)
VIRTUAL_BATCH = 16

sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def backward(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g)
    return loss


def update():
    optimizer.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))
    for s in sums:
        s.assign(tf.zeros_like(s))


losses = []
for epoch in range(2):
    for i, (xb, yb) in enumerate(examples, start=1):
        losses.append(float(backward(xb, yb)))
        if i % VIRTUAL_BATCH == 0:
            update()
print("first 16:", sum(losses[:16]) / 16, "last 16:", sum(losses[-16:]) / 16)
assert sum(losses[-16:]) > sum(losses[:16])
