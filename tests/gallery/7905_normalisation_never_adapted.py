# case: normalisation_never_adapted
# verdict: bug
# cause: unscaled-data; also: saturated-units at line 49
# expect_line: 45  47  59  60  61  62  63  64  65  66
# expect_variables: -
# symptom_today: the error stays about that of predicting the mean, and one blames the learning rate
# exit: 0
# fix: numeric_norm.adapt(table[NUMERIC]) before the model is trained
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(29)
NUMERIC = ["area", "year", "tax", "distance"]
DISTRICTS = ["north", "south", "harbour", "old town"]


def load_table(n=700, seed=29):
    rng = np.random.default_rng(seed)
    table = {
        "area": rng.normal(1500, 350, n),
        "year": rng.integers(1950, 2023, n),
        "tax": rng.normal(4200, 900, n),
        "distance": rng.gamma(3.0, 900.0, n),
        "district": rng.choice(DISTRICTS, n),
    }
    z = lambda k: (table[k] - table[k].mean()) / table[k].std()
    bonus = np.array([DISTRICTS.index(d) for d in table["district"]]) * 0.3
    price = 0.9 * z("area") + 0.7 * z("year") - 0.6 * z("distance") + 0.2 * z("tax") + bonus
    price += 0.1 * rng.normal(size=n)
    price = (price - price.mean()) / price.std()
    numeric = np.stack([table[k] for k in NUMERIC], axis=1).astype("float32")
    return numeric, table["district"].astype(object), price.astype("float32")[:, None]


def encode_districts(names):
    lookup = layers.StringLookup(vocabulary=DISTRICTS, num_oov_indices=0)
    return lookup(tf.constant(names.tolist())).numpy().astype("int32")


def build_model(hidden, l2):
    numeric = keras.Input((len(NUMERIC),), name="numeric")
    district = keras.Input((), dtype="int32", name="district")
    numeric_norm = layers.Normalization(axis=-1, name="numeric_norm")
    embedded = layers.Embedding(len(DISTRICTS), 3, name="district_embedding")(district)
    h = layers.Concatenate()([numeric_norm(numeric), embedded])
    for i, units in enumerate(hidden):
        h = layers.Dense(units, activation="tanh", kernel_regularizer=keras.regularizers.L2(l2), name=f"dense_{i}")(h)
    price = layers.Dense(1, name="price")(h)
    return keras.Model([numeric, district], price)


numeric, district_names, price = load_table()
district = encode_districts(district_names)
cut = 560
model = build_model(hidden=(32, 16), l2=1e-5)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"], jit_compile=False)
log = model.fit(
    [numeric[:cut], district[:cut]], price[:cut],
    validation_data=([numeric[cut:], district[cut:]], price[cut:]),
    batch_size=32,
    epochs=8,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=4)],
    verbose=0,
).history
print("val mse", np.round(log["val_loss"], 3).tolist())

explained = 1.0 - log["val_loss"][-1] / float(price[cut:].var())
print("explained variance", round(explained, 3))
assert np.isfinite(log["loss"]).all()
assert explained < 0.4
