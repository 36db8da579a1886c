"""Four micro-batches for one update, in a loop of one's own."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((256, 6))
y = tf.reduce_sum(x[:, :2], axis=1, keepdims=True)
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
totals = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

for epoch in range(4):
    for number, (inputs, targets) in enumerate(batches, 1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(inputs, training=True) - targets) ** 2) / 4
        for total, gradient in zip(totals, tape.gradient(loss, model.trainable_variables)):
            total.assign_add(gradient)
        if number % 4 == 0:
            optimizer.apply_gradients(zip(totals, model.trainable_variables))
            for total in totals:
                total.assign(tf.zeros_like(total))
    print(f"epoch {epoch}  loss {4 * float(loss):.3f}")
