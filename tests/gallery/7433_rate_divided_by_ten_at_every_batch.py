# case: rate_divided_by_ten_at_every_batch
# verdict: bug; static: no
# cause: learning-rate
# expect_line: 16 17 18 19 20 26
# expect_variables: - (the fault is not one of variables)
# symptom_today: the loss stands still from the start
# exit: 0
# fix: count batches, not epochs
# seen: decay_steps=1
import keras
import numpy as np

keras.utils.set_random_seed(33)
x = np.random.uniform(-1.0, 1.0, size=(320, 3))
y = np.sin(3.0 * x[:, :1]) + x[:, 1:2]
schedule = keras.optimizers.schedules.ExponentialDecay(
    0.01,
    decay_steps=1,
    decay_rate=0.1,
)
model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse")
loss = model.fit(x, y, epochs=20, verbose=0).history["loss"]
assert loss[-1] > 0.9 * loss[0]
