# case: sign_mask_learnable_cutoff
# verdict: bug; static: yes
# cause: zero-gradient-op
# expect_line: 27
# expect_variables: emphasis/cutoff (gradient exactly 0)
# symptom_today: silent: the cutoff keeps its start value
# exit: 0
# fix: a soft mask: sigmoid((difference - cutoff) / temperature)
# source: Hiyuur/SR-TOD#5 (sign(difference - learnable_thresh): the threshold never learns)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class DifferenceFilter(keras.layers.Layer):
    """Amplifies pixels where the reconstruction differs by more than a learned cutoff."""

    def __init__(self, **kw):
        super().__init__(**kw)
        self.cutoff = self.add_weight(shape=(), initializer=keras.initializers.Constant(0.3), name="cutoff")

    def call(self, inputs):
        picture, rebuilt = inputs
        difference = tf.reduce_mean(tf.abs(picture - rebuilt), axis=-1, keepdims=True)
        mask = (tf.sign(difference - self.cutoff) + 1.0) * 0.5
        return picture * (1.0 + mask)


picture = keras.Input((6, 6, 2))
rebuilt = keras.layers.Conv2D(2, 3, padding="same", name="rebuild")(picture)
emphasis = DifferenceFilter(name="emphasis")([picture, rebuilt])
h = keras.layers.Conv2D(3, 3, activation="relu", name="features")(keras.layers.Concatenate()([emphasis, rebuilt]))
model = keras.Model(picture, keras.layers.Dense(1, name="score")(keras.layers.GlobalAveragePooling2D()(h)))
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(0).uniform(size=(24, 6, 6, 2)).astype("float32")
model.fit(x, x.mean((1, 2, 3))[:, None], epochs=3, verbose=0)
print("cutoff:", float(model.get_layer("emphasis").cutoff))
assert abs(float(model.get_layer("emphasis").cutoff) - 0.3) < 1e-7
