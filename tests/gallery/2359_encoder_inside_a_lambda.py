# case: siamese_lambda
# verdict: bug
# cause: untracked-variable
# expect_line: 28 34
# expect_variables: glyph_conv/*, glyph_embed/*
# symptom_today: the loss creeps a little and stays high; model.summary() counts 13 parameters, the encoder never moves
# exit: 0
# fix: call the encoder on the two inputs in the functional graph (encoder(left), encoder(right)) and keep only the abs in the Lambda
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
SIDE, CLASSES = 12, 6

encoder = keras.Sequential([
    keras.Input((SIDE, SIDE, 1)),
    layers.Conv2D(8, 3, strides=2, activation="tanh", name="glyph_conv"),
    layers.Flatten(),
    layers.Dense(12, activation="tanh", name="glyph_embed"),
], name="glyph_encoder")


def l1_between(pair):
    """|f(a) - f(b)| of the two drawings."""
    a, b = pair
    return tf.abs(encoder(a) - encoder(b))


def build_siamese():
    left = keras.Input((SIDE, SIDE, 1), name="left")
    right = keras.Input((SIDE, SIDE, 1), name="right")
    gap = layers.Lambda(l1_between, output_shape=(12,), name="l1")([left, right])
    same = layers.Dense(1, activation="sigmoid", name="same")(gap)
    return keras.Model([left, right], same)


def make_pairs(n):
    glyphs = np.random.normal(0, 0.6, (CLASSES, SIDE, SIDE, 1))
    ca = np.random.randint(CLASSES, size=n)
    is_same = np.random.rand(n) < 0.5
    cb = np.where(is_same, ca, (ca + np.random.randint(1, CLASSES, size=n)) % CLASSES)
    noise = lambda: np.random.normal(0, 0.6, (n, SIDE, SIDE, 1))
    return ((glyphs[ca] + noise()).astype("float32"), (glyphs[cb] + noise()).astype("float32"),
            is_same.astype("float32")[:, None])


a, b, y = make_pairs(256)
model = build_siamese()
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
start = [w.copy() for w in encoder.get_weights()]
hist = model.fit([a, b], y, batch_size=32, epochs=12, verbose=0)
for e in range(0, 12, 3):
    print(f"epoch {e:2d}  loss {hist.history['loss'][e]:.4f}  acc {hist.history['accuracy'][e]:.3f}")
print("parameters of the model:", model.count_params(), " of the encoder:", encoder.count_params())
print("encoder moved by", max(np.abs(p - q).max() for p, q in zip(start, encoder.get_weights())))
