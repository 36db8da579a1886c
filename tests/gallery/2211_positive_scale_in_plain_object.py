# case: positive_scale_in_plain_object
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 22 32
# expect_variables: sigma
# symptom_today: silent: sigma stays at 3.0
# exit: 0
# fix: make Positive a keras.layers.Layer (add_weight), or add the variable in the model
# source: tensorflow/probability#946 (TransformedVariable as attribute of a Keras model is not trained)
import math
import numpy as np
import keras
from keras import ops

keras.utils.set_random_seed(0)


class Positive:
    """A number that stays positive: softplus of a free variable."""

    def __init__(self, value, name):
        self.free = keras.Variable(math.log(math.expm1(value)), dtype="float32", name=name)

    def __call__(self):
        return ops.softplus(self.free)


class GaussianRegressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.mean = keras.layers.Dense(1, name="mean")
        self.sigma = Positive(3.0, "sigma")

    def call(self, x):
        return self.mean(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        z = (y - y_pred) / self.sigma()
        return ops.mean(0.5 * z ** 2 + ops.log(self.sigma()))


model = GaussianRegressor()
model.compile(optimizer=keras.optimizers.Adam(5e-2))
rng = np.random.default_rng(0)
x = rng.normal(size=(128, 2)).astype("float32")
y = (x @ np.array([[1.0], [-2.0]]) + 0.1 * rng.normal(size=(128, 1))).astype("float32")
model.fit(x, y, epochs=10, verbose=0)
print("sigma after training:", float(model.sigma()), [v.path for v in model.trainable_variables])
assert abs(float(model.sigma()) - 3.0) < 1e-3
