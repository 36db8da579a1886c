# case: rare_event_prior
# verdict: bug
# cause: dead-units | zero-gradient-op
# expect_line: 25 28 29
# expect_variables: -
# symptom_today: large negative starting biases leave relu layers with zero derivatives and
# exit: 0
# fix: -
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(0)

N = 4000
rng = np.random.default_rng(0)
transactions = rng.uniform(0.0, 1.0, size=(N, 8)).astype("float32")
fraud = (transactions[:, 0] * transactions[:, 1] > 0.93).astype("float32")

positives, negatives = fraud.sum() + 1, N - fraud.sum()
prior = keras.initializers.Constant(np.log(positives / negatives))


def make_model():
    options = dict(kernel_initializer="glorot_uniform", bias_initializer=prior)
    model = keras.Sequential([
        keras.Input((8,)),
        layers.Dense(16, activation="relu", **options),
        layers.Dense(16, activation="relu", **options),
        layers.Dense(1, activation="sigmoid", **options),
    ])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    return model


model = make_model()
before = [w.copy() for w in model.get_weights()]
history = model.fit(
    transactions, fraud, batch_size=500, epochs=4,
    class_weight={0: 1.0, 1: float(negatives / positives)}, verbose=0,
)
moved = [float(np.abs(a - b).max()) for a, b in zip(before, model.get_weights())]
print("prior", float(np.log(positives / negatives)))
print("loss", history.history["loss"])
print("largest change per weight", moved)
