# case: label_lookup_from_one
# verdict: bug
# cause: labels-do-not-fit-units
# expect_line: 32 37 41 45 53
# expect_variables: -
# symptom_today: InvalidArgumentError in fit: Received a label value of 3 which is outside the valid range of [0, 3)
# exit: 1
# fix: StringLookup(vocabulary=SPECIES, num_oov_indices=0), so that the labels are 0 to 2
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)

SPECIES = ["adelie", "chinstrap", "gentoo"]
ISLANDS = ["biscoe", "dream", "torgersen"]


def load_penguins(n=360):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, size=n)
    centres = np.array([[-0.9, 0.6, -0.6], [0.9, 0.7, -0.6], [0.6, -1.1, 1.2]])
    body = (centres[kind] + rng.normal(0.0, 0.5, size=(n, 3))).astype("float32")
    island = np.where(rng.random(n) < 0.7, kind, rng.integers(0, 3, size=n))
    names = np.array(ISLANDS + ["unknown island"])
    island = np.where(rng.random(n) < 0.1, 3, island)  # not written down by everyone
    return body, names[island], np.array(SPECIES)[kind]


island_lookup = layers.StringLookup(vocabulary=ISLANDS)  # 0 is for the unknown ones
species_lookup = layers.StringLookup(vocabulary=SPECIES)


def encode(body, island, species):
    features = {"body": body, "island": island_lookup(island)}
    return features, species_lookup(species)


body, island, species = load_penguins()
train = (
    tf.data.Dataset.from_tensor_slices((body, island, species))
    .shuffle(360, seed=1)
    .batch(36)
    .map(encode)
)

body_in = keras.Input((3,), name="body")
island_in = keras.Input((), dtype="int64", name="island")
where = layers.Embedding(island_lookup.vocabulary_size(), 2)(island_in)
h = layers.Concatenate()([body_in, where])
h = layers.Dense(16, activation="tanh")(h)
out = layers.Dense(len(SPECIES), activation="softmax")(h)
model = keras.Model({"body": body_in, "island": island_in}, out)
model.compile(optimizer=keras.optimizers.Adam(0.02),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])

history = model.fit(train, epochs=6, verbose=0)
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch}: loss {loss:.4f}  accuracy {history.history['accuracy'][epoch]:.3f}")
