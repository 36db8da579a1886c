# case: ranked_features_for_the_risk_head
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 22
# expect_variables: trunk/*
# symptom_today: silent: no warning; the trunk is trained by the auxiliary head only
# exit: 0
# fix: a soft rank (the sum of sigmoids of pairwise differences) or a LayerNormalization
# seen: terms of the loss: loss of risk (cut from trunk), loss of denoise (reaches trunk)
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(33)


class RankNormalise(layers.Layer):
    """Replaces the features of a patient by their ranks, against outliers."""

    def call(self, h):
        order = tf.argsort(h, axis=-1)
        rank = tf.argsort(order, axis=-1)
        return tf.cast(rank, h.dtype) / float(h.shape[-1] - 1) - 0.5

    def compute_output_shape(self, shape):
        return shape


def build(features):
    labs = keras.Input((features,), name="labs")
    trunk = keras.Sequential(
        [layers.Input((features,)), layers.Dense(20, activation="tanh"), layers.Dense(12, activation="tanh")], name="trunk")
    h = trunk(labs)
    denoise = layers.Dense(features, name="denoise")(h)
    ranked = RankNormalise(name="ranks")(h)
    risk = layers.Dense(8, activation="gelu", name="risk_hidden")(ranked)
    risk = layers.Dense(1, activation="sigmoid", name="risk")(risk)
    return keras.Model(labs, {"risk": risk, "denoise": denoise})


rng = np.random.default_rng(33)
clean = rng.normal(size=(240, 7)).astype("float32")
noisy = clean + 0.2 * rng.normal(size=clean.shape).astype("float32")
ill = (clean[:, 0] - clean[:, 1] > 0.3).astype("float32")[:, None]
model = build(7)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss={"risk": "binary_crossentropy", "denoise": "mse"},
    loss_weights={"risk": 1.0, "denoise": 0.1},
)
history = model.fit(noisy, {"risk": ill, "denoise": clean}, epochs=4, batch_size=40, verbose=0).history
print({name: [round(float(v), 4) for v in values] for name, values in history.items()})
assert history["denoise_loss"][-1] < history["denoise_loss"][0]
