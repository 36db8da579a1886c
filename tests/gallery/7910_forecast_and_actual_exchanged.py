# case: pinball_with_forecast_and_actual_exchanged
# verdict: bug
# cause: loss-arguments-swapped
# expect_line: 37 38 39 65 67
# expect_variables: -
# symptom_today: the head for the 90 % quantile lies above only about 10 % of the measurements, and the 10 % head above about 90 %
# exit: 0
# fix: Keras calls loss(y_true, y_pred): name the arguments (actual, forecast) in that order
# source: GitHub bermanmaxim/LovaszSoftmax 12 (loss written as (prediction, labels) put into compile) and blog posts on quantile regression in Keras
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers, ops

WINDOW, STEPS = 36, 6
QUANTILES = {"low": 0.1, "mid": 0.5, "high": 0.9}


def tide_gauge(n=3000, seed=9):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.sin(2 * np.pi * t / 12.4) + 0.4 * np.sin(2 * np.pi * t / 28.0)
    gust = np.where(rng.random(n) < 0.3, rng.exponential(0.5, n), 0.0)
    series = level + 0.15 * rng.normal(size=n) + 0.5 * gust
    return ((series - series.mean()) / series.std()).astype("float32")


def windows(series):
    starts = np.arange(len(series) - WINDOW - STEPS)
    x = np.stack([series[s:s + WINDOW] for s in starts])
    y = np.stack([series[s + WINDOW:s + WINDOW + STEPS] for s in starts])
    return x[..., None], y


def pinball(q):
    """Tilted absolute error whose minimum is the q-quantile."""
    def loss(forecast, actual):
        error = actual - forecast
        return ops.mean(ops.maximum(q * error, (q - 1.0) * error), axis=-1)
    loss.__name__ = f"pinball_{int(100 * q)}"
    return loss


def quantile_net():
    past = keras.Input((WINDOW, 1), name="past")
    h = layers.Conv1D(16, 5, strides=2, activation="relu", name="local")(past)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="relu", name="trunk")(h)
    return keras.Model(past, {name: layers.Dense(STEPS, name=name)(h) for name in QUANTILES})


def coverage(net, x, y):
    """Share of the measurements that lie below each forecast."""
    out = net.predict(x, batch_size=512, verbose=0)
    return {name: float((y < out[name]).mean()) for name in QUANTILES}


def run():
    keras.utils.set_random_seed(9)
    x, y = windows(tide_gauge())
    cut = 2400
    net = quantile_net()
    net.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss={name: pinball(q) for name, q in QUANTILES.items()},
    )
    hist = net.fit(x[:cut], {name: y[:cut] for name in QUANTILES}, batch_size=64, epochs=8, verbose=0)
    below = coverage(net, x[cut + STEPS + WINDOW:], y[cut + STEPS + WINDOW:])
    return hist.history["loss"], below


if __name__ == "__main__":
    losses, below = run()
    print("loss", np.round(losses, 3))
    print("share of measurements below each head:", {k: round(v, 2) for k, v in below.items()})
    assert losses[-1] < 0.6 * losses[0]
    assert below["high"] < 0.3 and below["low"] > 0.7
    assert 0.3 < below["mid"] < 0.7
