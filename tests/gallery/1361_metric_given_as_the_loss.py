# case: rmse_metric_as_loss
# verdict: bug
# cause: assign-breaks-gradient
# expect_line: 46 48
# expect_variables: -
# symptom_today: ValueError "No gradients provided for any variable." out of fit, although the model and data are ordinary
# exit: 1
# fix: give compile a loss function, e.g. loss=lambda t, p: tf.sqrt(tf.reduce_mean(tf.square(t - p))) or "mse", and keep RootMeanSquaredError in metrics
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(7)

# ---- fake "flat rents" table: 6 columns, one target
n = 400
area = np.random.uniform(25, 140, n)
rooms = np.clip(np.round(area / 28 + np.random.randn(n) * 0.5), 1, 6)
age = np.random.uniform(0, 90, n)
dist = np.random.exponential(4.0, n)
floor_no = np.random.randint(0, 9, n)
lift = np.random.randint(0, 2, n)
rent = 9.5 * area + 60 * rooms - 1.5 * age - 35 * dist + 20 * lift + np.random.randn(n) * 40

X = np.stack([area, rooms, age, dist, floor_no, lift], axis=1)
X = ((X - X.mean(0)) / X.std(0)).astype("float32")
y = ((rent - rent.mean()) / rent.std()).astype("float32").reshape(-1, 1)
X_train, X_test = X[:320], X[320:]
y_train, y_test = y[:320], y[320:]


def build_model():
    inp = keras.Input(shape=(6,), name="flat")
    h = layers.Dense(32, activation="gelu", name="hidden1")(inp)
    h = layers.Dense(16, activation="gelu", name="hidden2")(h)
    out = layers.Dense(1, name="rent")(h)
    return keras.Model(inp, out)


model = build_model()
# the competition scores RMSE, so train on exactly that
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=3e-3),
    loss=keras.metrics.RootMeanSquaredError(),
    metrics=["mae"],
)
history = model.fit(X_train, y_train, epochs=15, batch_size=32, verbose=2)
print("last loss", history.history["loss"][-1])
print("test mae", model.evaluate(X_test, y_test, verbose=0)[1])
