# case: hypernetwork_assigns_the_kernel
# verdict: bug; static: yes
# cause: assign-breaks-gradient
# expect_line: 26 27 28
# expect_variables: hyper/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: use the generated tensors directly: tf.matmul(x, kernel) + bias, no assign
# source: tensorflow/tensorflow#29663 and #53541, google/qhbm-library#93 (hypernetwork writes its output into the main network)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
main = keras.layers.Dense(1)
main.build((None, 3))
hyper = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)], name="hyper")
opt = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()
rng = np.random.default_rng(0)


def train_step(task, x, y):
    with tf.GradientTape() as tape:
        code = hyper(task[None, :])[0]
        main.kernel.assign(tf.reshape(code[:3], (3, 1)))
        main.bias.assign(code[3:])
        loss = mse(y, main(x))
    grads = tape.gradient(loss, hyper.trainable_variables)
    opt.apply_gradients(zip(grads, hyper.trainable_variables))
    return loss


for it in range(3):
    slope = rng.normal(size=2).astype("float32")
    x = rng.normal(size=(16, 3)).astype("float32")
    y = x[:, :1] * slope[0] + slope[1]
    print(it, float(train_step(tf.constant(slope), x, y)))
