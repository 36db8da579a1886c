# case: derivative_asked_of_the_symbolic_input
# verdict: bug; static: yes
# cause: wrong-source-object | keras3-api-change
# expect_line: 27 29
# expect_variables: - (model.inputs, which are symbolic)
# symptom_today: raises ValueError: Passed in object <KerasTensor ...>
# exit: 1 (ValueError)
# fix: watch the batch that goes into the model and ask for its gradient
# seen: saliency code that used to call the backend's gradients function
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential([
    layers.Input((8, 8, 1)),
    layers.Conv2D(4, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(3, activation="softmax"),
])
loss_object = keras.losses.SparseCategoricalCrossentropy()


def explain(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images)
        tape.watch(model.inputs)
        loss = loss_object(labels, predictions)
    return tape.gradient(loss, model.inputs)


images = np.random.default_rng(0).random((5, 8, 8, 1), dtype="float32")
maps = explain(tf.constant(images), tf.constant([0, 1, 2, 1, 0]))
print(np.abs(maps[0]).max())
