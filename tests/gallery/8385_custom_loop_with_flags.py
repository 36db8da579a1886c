# case: custom_loop_with_flags
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: training=True while fitting, False while evaluating, only trainable variables in the list
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)


def make_net():
    inputs = keras.Input((16,))
    x = layers.Dense(32, use_bias=False)(inputs)
    x = layers.BatchNormalization(momentum=0.9)(x)
    x = layers.ReLU()(x)
    x = layers.Dropout(0.3)(x)
    outputs = layers.Dense(3, kernel_regularizer=keras.regularizers.L2(1e-3))(x)
    return keras.Model(inputs, outputs)


class Loop:
    def __init__(self, net):
        self.net = net
        self.optimizer = keras.optimizers.AdamW(5e-3)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_acc = keras.metrics.SparseCategoricalAccuracy()
        self.test_acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.loss_fn(y, logits) + tf.add_n(self.net.losses)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        self.train_acc.update_state(y, logits)
        return loss

    @tf.function
    def test_step(self, x, y):
        self.test_acc.update_state(y, self.net(x, training=False))


def split():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 360)
    x = (rng.normal(size=(360, 16)) + 1.2 * np.eye(3, 16)[y]).astype("float32")
    make = lambda a, b: tf.data.Dataset.from_tensor_slices((x[a:b], y[a:b])).batch(30)
    return make(0, 300), make(300, 360)


train, test = split()
loop = Loop(make_net())
for epoch in range(6):
    loop.train_acc.reset_state()
    loop.test_acc.reset_state()
    for x, y in train:
        loss = loop.train_step(x, y)
    for x, y in test:
        loop.test_step(x, y)
    print(epoch, float(loss), float(loop.train_acc.result()), float(loop.test_acc.result()))
