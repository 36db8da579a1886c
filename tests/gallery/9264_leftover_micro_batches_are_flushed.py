# case: leftover_micro_batches_are_flushed
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras

keras.utils.set_random_seed(106)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.02)
slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
seen = tf.Variable(0.0, trainable=False)
x = tf.random.normal((70, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)      # seven batches, windows of three
EVERY = 3


@tf.function
def collect(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    for slot, g in zip(slots, tape.gradient(loss, model.trainable_variables)):
        slot.assign_add(g)
    seen.assign_add(1.0)
    return loss


@tf.function
def flush():
    optimizer.apply_gradients([(slot / seen, v) for slot, v in zip(slots, model.trainable_variables)])
    for slot in slots:
        slot.assign(tf.zeros_like(slot))
    seen.assign(0.0)


history = []
for epoch in range(12):
    for i, (xb, yb) in enumerate(batches):
        history.append(float(collect(xb, yb)))
        if (i + 1) % EVERY == 0:
            flush()
    if float(seen) > 0:
        flush()
print(history[0], history[-1])
assert history[-1] < history[0]
