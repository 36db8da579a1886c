# case: relu_layers_fed_a_column_of_nan
# verdict: bug; static: no
# cause: nan-data
# expect_line: 17 25 30 31 32
# expect_variables: -
# symptom_today: silent: the compiled step turns the NaN into zeros at the rectifier, and no weight but the last bias moves
# exit: 0
# fix: fill or drop the missing values before training
# source: own words, after reports of networks that predict a constant because a column of the table was empty
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
table = rng.normal(size=(96, 6)).astype("float32")
price = table[:, :3].sum(1, keepdims=True)
table[:, 4] = np.nan  # the sensor that was never connected

net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return gradients

batches = tf.data.Dataset.from_tensor_slices((table, price)).batch(4)
for x, y in batches:
    gradients = train(x, y)
print([float(tf.norm(each)) for each in gradients])
assert not np.isfinite(net.get_weights()[0]).all()
