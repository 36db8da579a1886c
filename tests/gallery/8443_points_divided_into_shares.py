# case: points_divided_into_shares
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7443
import keras
import numpy as np

keras.utils.set_random_seed(43)
points = np.random.randint(0, 100, 400)
x = np.stack([points / 100.0, np.random.normal(size=400)], axis=1)
passed = (points / 100 >= 0.5).astype("float32")[:, None]
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
for _ in range(150):
    pick = np.random.randint(0, 400, 32)
    model.train_on_batch(x[pick], passed[pick])
assert (model.predict(x, verbose=0) > 0.5).mean() > 0.3
