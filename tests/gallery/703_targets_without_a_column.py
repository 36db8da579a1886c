# case: targets_without_a_column
# verdict: bug; static: no
# cause: loss-shape-broadcast
# expect_line: 24
# expect_variables: - (the loss; net/*)
# symptom_today: silent: (8,) against (8, 1) gives an 8 by 8 table; the model predicts the mean
# exit: 0
# fix: y[:, None], or tf.squeeze(prediction, -1)
# seen: custom loops on 1-D targets from pandas
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x = rng.normal(size=(64, 2)).astype("float32")
y = (2 * x[:, 0] - x[:, 1]).astype("float32")
net = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)], name="net")
opt = keras.optimizers.Adam(0.1)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=1).batch(8)


def huber(target, prediction, delta=1.0):
    error = target - prediction
    small = tf.abs(error) <= delta
    return tf.reduce_mean(tf.where(small, 0.5 * error**2, delta * (tf.abs(error) - 0.5 * delta)))


@tf.function
def epoch(dataset):
    total = 0.0
    for xb, yb in dataset:
        with tf.GradientTape() as tape:
            loss = huber(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        total += loss
    return total / 8.0


losses = [float(epoch(data)) for _ in range(20)]
print(losses[0], losses[-1], net.get_weights()[0].ravel())
assert np.abs(net.get_weights()[0]).max() < 1.0
