# case: siamese_mirror_lambda
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: nothing wrong; the encoder in the Lambda is the one that the graph calls (and tracks) as well
# exit: 0
# fix: -
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


def mirrored_embedding(img):
    # the same encoder once more, on the drawing seen in a mirror
    return encoder(tf.reverse(img, axis=[2]))


def embed(img):
    """Mean of the embeddings of a drawing and of its mirror image."""
    straight = encoder(img)
    mirrored = layers.Lambda(mirrored_embedding, output_shape=(12,))(img)
    return layers.Average()([straight, mirrored])


def build_siamese():
    left = keras.Input((SIDE, SIDE, 1), name="left")
    right = keras.Input((SIDE, SIDE, 1), name="right")
    gap = layers.Lambda(lambda p: tf.abs(p[0] - p[1]), output_shape=(12,), name="l1")([embed(left), embed(right)])
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
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
start = [w.copy() for w in encoder.get_weights()]
hist = model.fit([a, b], y, batch_size=32, epochs=12, verbose=0)
for e in range(0, 12, 3):
    print(f"epoch {e:2d}  loss {hist.history['loss'][e]:.4f}  acc {hist.history['accuracy'][e]:.3f}")
print("last loss", round(hist.history["loss"][-1], 4), " parameters:", model.count_params())
print("encoder moved by", [float(np.abs(p - q).max().round(3)) for p, q in zip(start, encoder.get_weights())])
