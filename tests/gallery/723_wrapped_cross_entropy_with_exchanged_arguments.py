# case: wrapped_cross_entropy_with_exchanged_arguments
# verdict: bug; static: no
# cause: loss-arguments-swapped
# expect_line: 19 28
# expect_variables: - (the loss; every variable)
# symptom_today: silent: the log is taken of the one-hot labels, the network learns next to nothing
# exit: 0
# fix: categorical_crossentropy(y_true, y_pred)
# seen: weighted losses wrapped around a library function
import keras
import numpy as np
from keras import ops


def weighted_crossentropy(weights):
    weights = ops.convert_to_tensor(weights, "float32")

    def loss(y_true, y_pred):
        per_example = keras.losses.categorical_crossentropy(y_pred, y_true)
        return per_example * ops.sum(weights * y_true, axis=-1)

    return loss


keras.utils.set_random_seed(5)
model = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(16, activation="relu"),
                          keras.layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(0.01), weighted_crossentropy([1.0, 2.0, 5.0]), metrics=["accuracy"])
rng = np.random.default_rng(5)
x = rng.normal(size=(90, 6)).astype("float32")
y = keras.utils.to_categorical(x[:, :3].argmax(axis=1), 3)
history = model.fit(x, y, epochs=3, verbose=0)
print(history.history["loss"])
assert history.history["loss"][0] > 5.0  # log of the zeros in the labels
