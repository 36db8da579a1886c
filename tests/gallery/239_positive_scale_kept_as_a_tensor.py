# case: positive_scale_kept_as_a_tensor
# verdict: bug; static: no
# cause: outside-tape | untracked-variable
# expect_line: 19 20 23
# expect_variables: raw_scale
# symptom_today: silent: the scale is a number from the constructor; fit trains the location only
# exit: 0
# fix: keep the raw weight (add_weight) and apply softplus in call
# seen: constrained parameters of probabilistic layers
import keras
import numpy as np
import tensorflow as tf


class NormalHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.loc = self.add_weight(shape=(), initializer="zeros", name="loc")
        raw_scale = tf.Variable(0.5, name="raw_scale")
        self.scale = tf.nn.softplus(raw_scale)

    def call(self, y):
        z = (y - self.loc) / self.scale
        return 0.5 * z**2 + tf.math.log(self.scale)


def mean_loss(_, nll):
    return tf.reduce_mean(nll)


head = NormalHead()
model = keras.Sequential([keras.layers.Input((1,)), head])
model.compile(optimizer=keras.optimizers.Adam(0.1), loss=mean_loss)
data = np.random.default_rng(0).normal(3.0, 5.0, size=(200, 1)).astype("float32")
scale = float(head.scale)
model.fit(data, data, epochs=5, verbose=0)
print(float(head.loc.numpy()), float(head.scale))
assert float(head.loc.numpy()) != 0.0 and float(head.scale) == scale
