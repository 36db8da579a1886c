# case: zip_with_all_weights
# verdict: bug
# cause: misrouted-gradient | non-trainable-in-list
# expect_line: 48
# expect_variables: mixing/*, readout/*
# symptom_today: no error; the frozen layer `mixing` moves, `readout` never does, the loss goes up
# exit: 0
# fix: zip(grads, net.trainable_weights)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(8)

SENSORS = 10


def simulate(n):
    """Ten coupled sensors: predict the next reading of each from the present ones."""
    rng = np.random.default_rng(4)
    mix = np.linalg.qr(rng.normal(size=(SENSORS, SENSORS)))[0]
    now = rng.normal(size=(n, SENSORS)).astype("float32")
    nxt = (np.tanh(now @ mix) @ rng.normal(size=(SENSORS, SENSORS)) * 0.4 + 0.3).astype("float32")
    return now, nxt, mix.astype("float32")


now, nxt, mix = simulate(600)
train = tf.data.Dataset.from_tensor_slices((now, nxt)).shuffle(600, seed=0).batch(50)

net = keras.Sequential([
    keras.Input((SENSORS,)),
    keras.layers.Dense(SENSORS, activation="tanh", name="mixing"),
    keras.layers.Dense(SENSORS, name="readout"),
])
# the mixing is known from the calibration of the device: load it and freeze it
net.get_layer("mixing").set_weights([mix, np.zeros(SENSORS, "float32")])
net.get_layer("mixing").trainable = False

optimizer = keras.optimizers.Adam(0.02)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb, net(xb, training=True))
    grads = tape.gradient(loss, net.trainable_weights)
    optimizer.apply_gradients(zip(grads, net.weights))
    return loss


readout_before = net.get_layer("readout").kernel.numpy().copy()
for epoch in range(10):
    mean = np.mean([float(train_step(xb, yb)) for xb, yb in train])
    print("epoch %2d  loss %.4f" % (epoch, mean))

print("mixing  moved by", np.abs(net.get_layer("mixing").kernel.numpy() - mix).max())
print("readout moved by", np.abs(net.get_layer("readout").kernel.numpy() - readout_before).max())
