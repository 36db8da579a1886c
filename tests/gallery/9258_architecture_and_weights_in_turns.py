# case: architecture_and_weights_in_turns
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (DARTS pattern)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)


class Mixed(keras.Model):
    def __init__(self):
        super().__init__()
        self.ops = [layers.Dense(8, activation=a) for a in ("relu", "tanh", "linear")]
        self.alpha = self.add_weight(shape=(3,), initializer="zeros", name="alpha")
        self.out = layers.Dense(1)

    def call(self, x):
        mix = tf.nn.softmax(self.alpha)
        return self.out(tf.add_n([mix[i] * op(x) for i, op in enumerate(self.ops)]))


model = Mixed()
rng = np.random.default_rng(0)
x = rng.normal(size=(128, 3)).astype("float32")
y = np.tanh(2 * x[:, :1] + x[:, 1:2]).astype("float32")
model(x[:1])
weights = [v for v in model.trainable_variables if v is not model.alpha]
weight_opt, alpha_opt = keras.optimizers.SGD(0.05, momentum=0.9), keras.optimizers.Adam(0.05)


def loss_on(part):
    return tf.reduce_mean(tf.square(model(x[part], training=True) - y[part]))


train, valid = slice(0, 64), slice(64, 128)
log = []
for it in range(30):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(model.alpha.value)
        outer = loss_on(valid)
    alpha_opt.apply_gradients([(tape.gradient(outer, model.alpha.value), model.alpha)])
    with tf.GradientTape() as tape:
        inner = loss_on(train)
    weight_opt.apply_gradients(zip(tape.gradient(inner, weights), weights))
    log.append(float(inner))
print(log[0], log[-1], model.alpha.numpy())
assert log[-1] < log[0] and model.alpha.numpy().any()
