# case: importance_of_weights_after_training
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: elastic weight consolidation: Fisher information of a trained model
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
net = keras.Sequential(
    [
        keras.layers.Input((5,)),
        keras.layers.Dense(8, activation="relu", kernel_regularizer="l2"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(3),
    ]
)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.compile("adam", xent)
x = np.random.default_rng(4).normal(size=(60, 5)).astype("float32")
y = x[:, :3].argmax(axis=1)
net.fit(x, y, epochs=2, verbose=0)


def fisher(samples):
    total = [np.zeros(v.shape, "float32") for v in net.trainable_variables]
    for one, label in samples:
        with tf.GradientTape() as tape:
            likelihood = -xent(label[None], net(one[None]))
        for t, g in zip(total, tape.gradient(likelihood, net.trainable_variables)):
            t += g.numpy() ** 2 / len(samples)
    return total


importance = fisher(list(zip(x[:6], y[:6])))
print([float(i.mean()) for i in importance])
assert importance[0].mean() > 0
