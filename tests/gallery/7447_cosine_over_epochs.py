# case: cosine_over_epochs
# verdict: bug
# cause: learning-rate | never-updated
# expect_line: 45   43 49
# expect_variables: -
# symptom_today: no error; after little more than one epoch the loss does not change any more (learning rate 0)
# exit: 0
# fix: give the schedule steps, not epochs: decay_steps = EPOCHS * steps_per_epoch
# source: mindee/doctr#374 (wrong step count in the learning-rate schedule)
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(101)

EPOCHS = 30
BATCH = 16


def bike_stations(n=480):
    rng = np.random.default_rng(55)
    station = rng.integers(0, 20, n)
    weather = rng.normal(size=(n, 4)).astype("float32")
    pull = rng.normal(size=20)
    taken = np.tanh(pull[station] + 0.8 * weather[:, 0] * weather[:, 1])
    full = (pull[station] + weather[:, 2] > 0).astype("float32")
    return station.astype("int32"), weather, taken.astype("float32")[:, None], full[:, None]


def two_headed_model():
    station = keras.Input((), dtype="int32", name="station")
    weather = keras.Input((4,), name="weather")
    place = layers.Embedding(20, 6, name="place")(station)
    h = layers.Concatenate()([place, weather])
    h = layers.Dense(32, activation="relu", name="joint")(h)
    h = layers.Dense(16, activation="relu", name="joint_2")(h)
    taken = layers.Dense(1, name="taken")(h)
    full = layers.Dense(1, activation="sigmoid", name="full")(h)
    return keras.Model({"station": station, "weather": weather}, {"taken": taken, "full": full})


station, weather, taken, full = bike_stations()
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.05,
    decay_steps=EPOCHS,
)
model = two_headed_model()
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9),
    loss={"taken": "mse", "full": "binary_crossentropy"},
    loss_weights={"taken": 1.0, "full": 0.5},
    metrics={"full": ["accuracy"]},
)
log = model.fit(
    {"station": station, "weather": weather},
    {"taken": taken, "full": full},
    batch_size=BATCH,
    epochs=EPOCHS,
    verbose=0,
)
print("steps per epoch:", len(station) // BATCH)
print("loss:", [round(v, 4) for v in log.history["loss"]])
print("full, accuracy:", round(log.history["full_accuracy"][-1], 3))
