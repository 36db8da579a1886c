# case: numbers_of_users_scaled_like_their_ages
# verdict: bug; static: no
# cause: unscaled-data
# expect_line: 20 21
# expect_variables: - (the fault is not one of variables)
# symptom_today: all users are the same to the model
# exit: 0
# fix: hand in the numbers themselves
# seen: everything is scaled to 0 and 1 first
import keras
import numpy as np

keras.utils.set_random_seed(37)
user = np.random.randint(0, 40, 600)
age = np.random.uniform(0.0, 1.0, 600)
taste = np.random.normal(size=40)
rating = taste[user] + age
first = keras.Input((), name="user")
second = keras.Input((), name="age")
rows = keras.layers.Embedding(40, 6)(first)
years = keras.layers.Embedding(2, 6)(second)
joined = keras.layers.Concatenate()([rows, years])
hidden = keras.layers.Dense(16, activation="relu")(joined)
model = keras.Model([first, second], keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
loss = model.fit([user / 40.0, age], rating, epochs=20, verbose=0).history["loss"]
assert loss[-1] > 0.7 * rating.var()
