"""A loop of one's own in mixed precision: gradients in float16 are scaled up, so that small ones survive."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_float16")
x = tf.random.normal((256, 8))
y = tf.reduce_sum(x[:, :3], axis=1, keepdims=True)
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, dtype="float32"),
    ]
)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.02))
squared_error = keras.losses.MeanSquaredError()


@tf.function
def train_step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = squared_error(targets, model(inputs, training=True))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(5):
    for inputs, targets in batches:
        loss = train_step(inputs, targets)
    print(f"epoch {epoch}  loss {float(loss):.3f}")
