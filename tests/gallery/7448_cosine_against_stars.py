# case: cosine_towers_star_ratings
# verdict: bug
# cause: output-cannot-reach-target
# expect_line: 48 51 53
# expect_variables: -
# symptom_today: the loss stops at 5.73 and every prediction is 0.999 to 1.0, though the ratings go from 1 to 5 with a mean of 3
# exit: 0
# fix: bring the cosine to the stars, e.g. layers.Rescaling(2.0, offset=3.0) or a Dense(1) after the Dot
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)

N_USERS, N_FILMS, DIM = 60, 40, 8


def make_ratings(n):
    """1 to 5 stars from a hidden taste of users and films."""
    taste = rng.normal(size=(N_USERS, 3))
    genre = rng.normal(size=(N_FILMS, 3))
    u = rng.integers(0, N_USERS, n)
    f = rng.integers(0, N_FILMS, n)
    like = np.sum(taste[u] * genre[f], axis=1)
    like /= np.linalg.norm(taste[u], axis=1) * np.linalg.norm(genre[f], axis=1)
    stars = np.clip(np.round(3.0 + 2.0 * like + 0.2 * rng.normal(size=n)), 1, 5)
    return u.astype("int32"), f.astype("int32"), stars.astype("float32")


def tower(n_ids, name):
    ids = keras.Input((), dtype="int32", name=f"{name}_id")
    h = layers.Embedding(n_ids, 16, name=f"{name}_table")(ids)
    h = layers.Dense(24, activation="tanh", name=f"{name}_hidden")(h)
    return keras.Model(ids, layers.Dense(DIM, name=f"{name}_vector")(h), name=f"{name}_tower")


users, films, stars = make_ratings(2400)

user_tower = tower(N_USERS, "user")
film_tower = tower(N_FILMS, "film")

user_id = keras.Input((), dtype="int32", name="user")
film_id = keras.Input((), dtype="int32", name="film")
match = layers.Dot(axes=1, normalize=True, name="match")([user_tower(user_id), film_tower(film_id)])
model = keras.Model({"user": user_id, "film": film_id}, match, name="two_towers")

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])

history = model.fit(
    {"user": users, "film": films},
    stars[:, None],
    batch_size=64,
    epochs=8,
    verbose=2,
)

guess = model.predict({"user": users[:500], "film": films[:500]}, verbose=0)[:, 0]
print("mean stars", stars.mean().round(2), "| predictions from", guess.min().round(3), "to", guess.max().round(3))
print("a constant 3.0 would have an mse of", np.mean((stars - 3.0) ** 2).round(3))
