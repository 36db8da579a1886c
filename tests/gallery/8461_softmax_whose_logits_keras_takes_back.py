# case: softmax_whose_logits_keras_takes_back
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; Keras warns of the contradiction
# exit: 0
# fix: -
# seen: a warning of Keras that many programs print
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
x = np.random.normal(size=(120, 4)).astype("float32")
y = x[:, :3].argmax(1)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(3, "softmax")])
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
adam = keras.optimizers.Adam(0.02)


@tf.function
def train(features, labels):
    with tf.GradientTape() as tape:
        loss = xent(labels, net(features, training=True))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for step in range(60):
    loss = train(x, y)
assert float(loss) < 0.3
