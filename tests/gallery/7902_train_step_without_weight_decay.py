# case: train_step_without_weight_decay
# verdict: bug
# cause: missing-loss-term
# expect_line: 30 31 41 42 44
# expect_variables: -
# symptom_today: silent: the loss of the custom step is lower than that of plain fit from the first epoch on, the kernels are not decayed
# exit: 0
# fix: loss = self.ce(y, y_pred) + sum(self.losses)   (or self.compute_loss(...))
# source: keras-team/keras#16906 (loss and accuracy different on custom fit function using train_step compared to normal training; L2 on every layer)
import numpy as np
import tensorflow as tf
import keras
from keras import layers, regularizers


class CustomFit(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ce = keras.losses.SparseCategoricalCrossentropy()
        self.mean_loss = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.ce(y, y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


def vgg_like(cls):
    keras.utils.set_random_seed(11)
    weight_decay = 0.005
    inputs = keras.Input((12, 12, 1))
    x = layers.Conv2D(8, 3, padding="same", activation="relu",
                      kernel_regularizer=regularizers.l2(weight_decay))(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(16, 3, padding="same", activation="relu", kernel_regularizer=regularizers.l2(weight_decay))(x)
    x = layers.GlobalAveragePooling2D()(x)
    return cls(inputs, layers.Dense(3, activation="softmax")(x))


rng = np.random.default_rng(0)
y = rng.integers(0, 3, size=96)
x = rng.normal(scale=0.3, size=(96, 12, 12, 1)).astype("float32")
x[y == 1, ::2] += 1.0      # horizontal stripes
x[y == 2, :, ::2] += 1.0   # vertical stripes
x -= x.mean()

runs = {}
for name, cls in [("fit", keras.Model), ("custom", CustomFit)]:
    net = vgg_like(cls)
    net.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy())
    curve = net.fit(x, y, batch_size=32, epochs=10, shuffle=False, verbose=0).history["loss"]
    decay = float(sum(net.losses))
    runs[name] = curve, decay
    print(name, curve[0], "->", curve[-1], "decay term", decay)

assert runs["custom"][0][-1] < runs["custom"][0][0]
assert runs["custom"][1] > 1.15 * runs["fit"][1]
