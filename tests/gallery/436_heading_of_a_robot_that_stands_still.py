# case: heading_of_a_robot_that_stands_still
# verdict: bug; static: no
# cause: nan-division
# expect_line: 20
# expect_variables: velocity_net/*
# symptom_today: silent: atan2(0, 0) is 0, its gradient is NaN
# exit: 0
# fix: compare unit vectors, or mask the still steps before atan2 sees them
# seen: trajectory models with a heading loss
import keras
import numpy as np
import tensorflow as tf

velocity_net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"),
                                 keras.layers.Dense(2, use_bias=False)], name="velocity_net")
opt = keras.optimizers.SGD(0.01)


def heading(v):
    return tf.atan2(v[:, 1], v[:, 0])


@tf.function
def step(sensors, headings):
    with tf.GradientTape() as tape:
        angle = heading(velocity_net(sensors, training=True))
        loss = tf.reduce_mean(1.0 - tf.cos(angle - headings))
    grads = tape.gradient(loss, velocity_net.trainable_variables)
    opt.apply_gradients(zip(grads, velocity_net.trainable_variables))
    return loss


sensors = np.random.default_rng(3).normal(size=(12, 3)).astype("float32")
sensors[5] = 0.0  # the wheels are blocked
loss = step(sensors, np.zeros(12, "float32"))
assert np.isfinite(loss) and np.isnan(velocity_net.get_weights()[-1]).any()
