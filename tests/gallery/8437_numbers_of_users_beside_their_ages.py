# case: numbers_of_users_beside_their_ages
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7437
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
years = keras.layers.Reshape((1,))(second)
joined = keras.layers.Concatenate()([rows, years])
hidden = keras.layers.Dense(16, activation="relu")(joined)
model = keras.Model([first, second], keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
loss = model.fit([user, age], rating, epochs=20, verbose=0).history["loss"]
assert loss[-1] < 0.3 * rating.var()
