# case: store_sales_windows
# verdict: bug
# cause: output-cannot-reach-target
# expect_line: 19 68
# expect_variables: -
# symptom_today: the loss stops falling early; forecasts never go below the mean of the series, all quiet days are forecast too high
# exit: 0
# fix: a linear last layer for the standardised target (or softplus on the sales as they are)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(66)

SPEC = {
    "window": 14,
    "head": {"units": 1, "activation": "softplus"},
    "blocks": [{"filters": 24, "kernel": 3}, {"filters": 24, "kernel": 3}],
    "train": {"lr": 4e-3, "epochs": 6, "batch": 64},
}


def daily_sales(days=1500, seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(days)
    week = np.array([0.7, 0.75, 0.85, 1.0, 1.3, 1.6, 0.8])[t % 7]
    season = 1.0 + 0.25 * np.sin(2 * np.pi * t / 180)
    return rng.poisson(120 * week * season).astype("float32")


class Standardiser:
    """Fitted on the training days, used for inputs and targets alike."""

    def fit(self, series):
        self.mean, self.std = float(series.mean()), float(series.std())
        return self

    def forward(self, series):
        return (series - self.mean) / self.std

    def backward(self, scaled):
        return scaled * self.std + self.mean


def windows(series, length, batch, shuffle):
    return keras.utils.timeseries_dataset_from_array(
        data=series[:-1, None],
        targets=series[length:, None],
        sequence_length=length,
        batch_size=batch,
        shuffle=shuffle,
        seed=1,
    )


def residual_block(x, filters, kernel, name):
    shortcut = layers.Conv1D(filters, 1, name=f"{name}_skip")(x)
    x = layers.Conv1D(filters, kernel, padding="causal", activation="relu", name=f"{name}_conv")(x)
    return layers.Add(name=f"{name}_add")([x, shortcut])


def make_head(features, units, activation):
    """Sales are never negative, so the last layer should not be either."""
    h = layers.Flatten(name="flat")(features)
    h = layers.Dense(32, activation="relu", name="summary")(h)
    return layers.Dense(units, activation=activation, name="forecast")(h)


def build(spec):
    inputs = keras.Input((spec["window"], 1), name="past")
    x = inputs
    for i, block in enumerate(spec["blocks"]):
        x = residual_block(x, block["filters"], block["kernel"], name=f"block{i}")
    return keras.Model(inputs, make_head(x, **spec["head"]), name="sales")


series = daily_sales()
train_days, valid_days = series[:1200], series[1200 - SPEC["window"]:]
scaler = Standardiser().fit(train_days)
cfg = SPEC["train"]
train_ds = windows(scaler.forward(train_days), SPEC["window"], cfg["batch"], True)
valid_ds = windows(scaler.forward(valid_days), SPEC["window"], cfg["batch"], False)

model = build(SPEC)
model.compile(optimizer=keras.optimizers.Adam(cfg["lr"]), loss="mse", metrics=["mae"])
stop = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2)
history = model.fit(train_ds, validation_data=valid_ds, epochs=cfg["epochs"], callbacks=[stop], verbose=0).history
for e, (a, b) in enumerate(zip(history["loss"], history["val_loss"])):
    print(f"epoch {e}  mse {a:.3f}  val {b:.3f}")

forecast = scaler.backward(model.predict(valid_ds, verbose=0)[:, 0])
actual = valid_days[SPEC["window"]:]
quiet = actual < scaler.mean
bias = float(np.mean(forecast[quiet] - actual[quiet]))
print(f"quiet days {quiet.mean():.2f} of all, forecast too high there by {bias:.1f} units")
print(f"lowest forecast {forecast.min():.1f}, mean of the series {scaler.mean:.1f}, lowest day {actual.min():.0f}")
assert quiet.mean() > 0.4 and bias > 15.0
assert forecast.min() >= scaler.mean - 1e-3
assert history["loss"][-1] > 0.3
