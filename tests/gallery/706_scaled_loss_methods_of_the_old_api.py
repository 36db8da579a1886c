# case: scaled_loss_methods_of_the_old_api
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 22
# expect_variables: -
# symptom_today: raises AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'
# exit: 1 (AttributeError)
# fix: scaled = opt.scale_loss(loss); apply_gradients undoes the scale by itself
# seen: the mixed-precision guide for custom loops
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, dtype="float32")])
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(1e-3))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        scaled = opt.get_scaled_loss(loss)
    grads = opt.get_unscaled_gradients(tape.gradient(scaled, net.trainable_variables))
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


train_step(tf.random.normal((8, 4)), tf.ones((8, 1)))
