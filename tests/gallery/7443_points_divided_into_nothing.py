# case: points_divided_into_nothing
# verdict: bug; static: no
# cause: predictions-collapsed
# expect_line: 16 25
# expect_variables: - (the fault is not one of variables)
# symptom_today: nobody passes
# exit: 0
# fix: divide with /
# seen: a whole-number division
import keras
import numpy as np

keras.utils.set_random_seed(43)
points = np.random.randint(0, 100, 400)
x = np.stack([points / 100.0, np.random.normal(size=400)], axis=1)
passed = (points // 100 >= 0.5).astype("float32")[:, None]
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(8, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
for _ in range(150):
    pick = np.random.randint(0, 400, 32)
    model.train_on_batch(x[pick], passed[pick])
assert (model.predict(x, verbose=0) > 0.5).sum() == 0
