# case: rental_pipeline
# verdict: bug
# cause: pairs-lost
# expect_line: 40 51
# expect_variables: -
# symptom_today: loss stays at the variance of the target; train and validation R2 about zero
# exit: 0
# fix: zip first and shuffle the pairs, or give both shuffles the same seed
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)

SETTINGS = {"batch": 64, "epochs": 4, "lr": 3e-3, "stations": 12, "buffer": 4096}


def rentals(n, seed):
    """Bike rentals by weather, hour and station; the target is standardised."""
    rng = np.random.default_rng(seed)
    weather = rng.normal(size=(n, 4)).astype("float32")
    hour = rng.integers(0, 24, n)
    angle = 2 * np.pi * hour / 24
    clock = np.stack([np.sin(angle), np.cos(angle)], axis=1).astype("float32")
    station = rng.integers(0, SETTINGS["stations"], n).astype("int32")
    level = np.random.default_rng(0).normal(size=SETTINGS["stations"])
    demand = 0.8 * weather[:, 0] - 0.5 * weather[:, 1] ** 2 + 0.9 * clock[:, 1] + 0.7 * level[station]
    demand = demand + 0.1 * rng.normal(size=n)
    demand = (demand - demand.mean()) / demand.std()
    inputs = {"weather": weather, "clock": clock, "station": station}
    return inputs, demand.astype("float32")[:, None]


def stream(columns, training):
    ds = tf.data.Dataset.from_tensor_slices(columns)
    if training:
        ds = ds.shuffle(SETTINGS["buffer"])
    return ds.batch(SETTINGS["batch"])


def with_weather_noise(inputs, demand):
    noisy = dict(inputs)
    noisy["weather"] = inputs["weather"] + 0.05 * tf.random.normal(tf.shape(inputs["weather"]))
    return noisy, demand


def pipeline(inputs, demand, training):
    ds = tf.data.Dataset.zip((stream(inputs, training), stream(demand, training)))
    if training:
        ds = ds.map(with_weather_noise)
    return ds.prefetch(1)


class CrossLayer(layers.Layer):
    """One explicit feature cross: x0 * (W x + b) + x."""

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(shape[-1],), initializer="zeros", name="bias")

    def call(self, x):
        return x * (tf.matmul(x, self.kernel) + self.bias) + x


def build_model():
    weather = keras.Input((4,), name="weather")
    clock = keras.Input((2,), name="clock")
    station = keras.Input((), dtype="int32", name="station")
    code = layers.Embedding(SETTINGS["stations"], 4, name="station_code")(station)
    x = layers.Concatenate()([weather, clock, code])
    x = CrossLayer(name="cross")(x)
    x = layers.Dense(32, activation="swish", name="hidden")(x)
    output = layers.Dense(1, name="demand")(x)
    return keras.Model({"weather": weather, "clock": clock, "station": station}, output)


x_train, y_train = rentals(2048, seed=1)
x_valid, y_valid = rentals(512, seed=2)
train_ds = pipeline(x_train, y_train, training=True)
valid_ds = pipeline(x_valid, y_valid, training=False)

model = build_model()
model.compile(
    optimizer=keras.optimizers.Adam(SETTINGS["lr"]),
    loss="mse",
    metrics=[keras.metrics.R2Score(name="r2")],
)
history = model.fit(train_ds, validation_data=valid_ds, epochs=SETTINGS["epochs"], verbose=0).history
for epoch in range(SETTINGS["epochs"]):
    print("epoch %d  " % epoch + "  ".join(f"{k} {v[epoch]:.3f}" for k, v in history.items()))

assert history["r2"][-1] < 0.1 and history["val_r2"][-1] < 0.15

# look the rows of a training batch up in the table they come from
inputs, demand = next(iter(train_ds))
row = [int(np.argmin(np.abs(x_train["weather"] - w).sum(1))) for w in inputs["weather"].numpy()]
wrong = np.mean(np.abs(y_train[row, 0] - demand.numpy()[:, 0]) > 1e-6)
print("rows whose target is another row's:", wrong)
assert wrong > 0.9
