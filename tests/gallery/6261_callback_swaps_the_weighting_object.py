# case: callback_swaps_the_weighting_object
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 48
# expect_variables: -
# symptom_today: silent: the penalty keeps the factor of the first epoch
# exit: 0
# fix: keep the factor in a tf.Variable and assign to it
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Penalty:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * tf.reduce_mean(x**2)


class WarmUp(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.penalty = Penalty(0.5 * epoch)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.penalty = Penalty(0.0)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = tf.reduce_mean((out - y) ** 2) + self.penalised(out)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss, "penalty": loss - tf.reduce_mean((out - y) ** 2)}

    def penalised(self, out):
        return self.penalty(out)


net = Net()
net.compile(keras.optimizers.SGD(0.1))
x = np.random.rand(16, 2).astype("float32")
history = net.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[WarmUp()]).history
assert history["penalty"] == [0.0, 0.0, 0.0]
