# case: unfrozen_inside_frozen_base
# verdict: bug
# cause: frozen-by-flag
# expect_line: 55 57
# expect_variables: conv_c/*
# symptom_today: the last convolution should be fine-tuned, yet it does not move at all; only the new head is trained
# exit: 0
# fix: set base.trainable = True and then freeze the layers that shall stay (for layer in base.layers[:-2]: layer.trainable = False)
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(21)


def stripes(n, angles):
    """8x8 pictures with stripes; the class is the direction"""
    yy, xx = np.mgrid[0:8, 0:8] / 8.0
    cls = np.random.randint(0, len(angles), n)
    pics = []
    for c in cls:
        a = angles[c] + 0.1 * np.random.randn()
        pics.append(np.sin(12 * (xx * np.cos(a) + yy * np.sin(a)) + 6.28 * np.random.rand()))
    pics = np.array(pics) + 0.2 * np.random.randn(n, 8, 8)
    return pics[..., None].astype("float32"), cls


def make_base():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, padding="same", activation="gelu", name="conv_a"),
            layers.Conv2D(12, 3, strides=2, padding="same", activation="gelu", name="conv_b"),
            layers.Conv2D(16, 3, padding="same", activation="gelu", name="conv_c"),
            layers.GlobalAveragePooling2D(name="pool"),
        ],
        name="base",
    )


# --- step 1: "pretraining" on two directions
x_src, y_src = stripes(256, [0.0, 1.57])
base = make_base()
source_model = keras.Sequential([base, layers.Dense(2, activation="softmax", name="source_head")])
source_model.compile(keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
h = source_model.fit(x_src, y_src, epochs=3, batch_size=32, verbose=0)
print("source:", h.history["loss"][0], "->", h.history["loss"][-1])

# --- step 2: new task with three other directions; freeze all but the last conv block
x_new, y_new = stripes(384, [0.5, 1.1, 2.4])
base.trainable = False
for layer in base.layers[-2:]:
    layer.trainable = True
    print("will fine-tune", layer.name)

inputs = keras.Input((8, 8, 1))
outputs = layers.Dense(3, activation="softmax", name="new_head")(base(inputs))
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])

conv_c = base.get_layer("conv_c")
before = conv_c.kernel.numpy().copy()
h = model.fit(x_new, y_new, epochs=8, batch_size=32, verbose=0)
for e, (l, a) in enumerate(zip(h.history["loss"], h.history["accuracy"])):
    print(f"epoch {e} loss {l:.4f} acc {a:.3f}")
print("conv_c moved by", float(np.abs(conv_c.kernel.numpy() - before).max()))
