# case: new_head_frozen_with_the_rest
# verdict: bug; static: no
# cause: frozen-by-flag
# expect_line: 21 22 28
# expect_variables: conv2d/*, conv2d_1/*, head/*
# symptom_today: silent: UserWarning The model does not have any trainable weights; the loss never changes
# exit: 0
# fix: freeze the base (base.trainable = False), not the model that also holds the new head
# source: keras-team/keras#14325 and GantMan/nsfw_model#33 (fine-tuned model behaves exactly as before)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(0)
base = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(),
                         layers.Conv2D(8, 3, activation="relu"), layers.GlobalAveragePooling2D()], name="pretrained")
image = keras.Input((16, 16, 3))
answer = layers.Dense(4, activation="softmax", name="head")(layers.Dropout(0.1)(base(image)))
model = keras.Model(image, answer)

model.trainable = False
model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])

rng = np.random.default_rng(0)
x = rng.uniform(size=(40, 16, 16, 3)).astype("float32")
y = rng.integers(0, 4, 40)
before = model.get_layer("head").get_weights()[0].copy()
history = model.fit(x, y, epochs=3, batch_size=10, verbose=0)
print(history.history["loss"])
assert np.array_equal(before, model.get_layer("head").get_weights()[0])
