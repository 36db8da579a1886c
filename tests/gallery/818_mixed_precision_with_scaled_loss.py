# case: mixed_precision_with_scaled_loss
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: LossScaleOptimizer in a custom loop, Keras 3
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, dtype="float32")])
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=1024.0)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        scaled = opt.scale_loss(loss)
    grads = tape.gradient(scaled, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


x = tf.random.normal((64, 6), seed=1)
losses = [float(step(x, x[:, :1])) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
