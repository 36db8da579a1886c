# case: dropout_and_regularisers_in_a_custom_loop
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: training=True and model.losses, done right
import keras
import tensorflow as tf

keras.utils.set_random_seed(5)
net = keras.Sequential(
    [
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-3), activity_regularizer="l1"),
        keras.layers.Dropout(0.3),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(1),
    ]
)
opt = keras.optimizers.AdamW(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        data = tf.reduce_mean((net(x, training=True) - y) ** 2)
        loss = data + tf.add_n(net.losses)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


x = tf.random.normal((64, 8), seed=5)
losses = [float(step(x, x[:, :1])) for _ in range(20)]
validation = float(tf.reduce_mean((net(x, training=False) - x[:, :1]) ** 2))
print(losses[0], losses[-1], validation)
assert losses[-1] < losses[0]
