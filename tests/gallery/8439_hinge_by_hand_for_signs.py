# case: hinge_by_hand_for_signs
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7439
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(39)
x = np.random.normal(size=(320, 6)).astype("float32")
spam = x[:, 0] + x[:, 1] > 0.3
labels = np.where(spam, 1.0, -1.0).astype("float32")[:, None]
model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(0.02)


def hinge(y, margin):
    return tf.reduce_mean(tf.maximum(0.0, 1.0 - y * margin))


for _ in range(100):
    pick = np.random.randint(0, 320, 64)
    with tf.GradientTape() as tape:
        loss = hinge(labels[pick], model(x[pick]))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
right = np.mean((model(x).numpy()[:, 0] > 0) == spam)
assert right > 0.9
