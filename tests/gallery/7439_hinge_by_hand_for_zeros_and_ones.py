# case: hinge_by_hand_for_zeros_and_ones
# verdict: bug; static: no
# cause: loss-does-not-fit-task
# expect_line: 17 27
# expect_variables: - (the fault is not one of variables)
# symptom_today: everything is called spam
# exit: 0
# fix: labels of -1 and 1
# seen: a formula from a book, labels from a table
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(39)
x = np.random.normal(size=(320, 6)).astype("float32")
spam = x[:, 0] + x[:, 1] > 0.3
labels = np.where(spam, 1.0, 0.0).astype("float32")[:, None]
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
assert right < 0.8
