# case: feature_output_without_loss
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the output "features" has no loss on purpose, and its layers are trained by the two other outputs
# exit: 0
# fix: -
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(21)

N_CATEGORIES = 4


def load_products(n=480):
    """Ten measurements of a product, its category, and its (standardised) price."""
    rng = np.random.default_rng(1)
    centres = rng.normal(0.0, 1.2, size=(N_CATEGORIES, 10))
    category = rng.integers(0, N_CATEGORIES, size=n)
    x = centres[category] + rng.normal(0.0, 0.8, size=(n, 10))
    price = x[:, 0] - 0.5 * x[:, 3] + 0.8 * (category == 2)
    price = (price - price.mean()) / price.std()
    return x.astype("float32"), category.astype("int32"), price.astype("float32")[:, None]


def shared_trunk(inputs):
    h = layers.Dense(32, activation="tanh", name="trunk_1")(inputs)
    return layers.Dense(16, activation="tanh", name="features")(h)


inputs = keras.Input((10,), name="measurements")
features = shared_trunk(inputs)
category_out = layers.Dense(N_CATEGORIES, activation="softmax", name="category")(features)
price_out = layers.Dense(1, name="price")(features)
# the features go into the search index later, so the model returns them as well
model = keras.Model(inputs, {"category": category_out, "price": price_out, "features": features})

model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss={"category": "sparse_categorical_crossentropy", "price": "mse"},
)

x, category, price = load_products()
history = model.fit(
    x,
    {"category": category, "price": price},
    batch_size=48,
    epochs=8,
    verbose=0,
)
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch}: loss {loss:.4f}")
answer = model.predict(x, verbose=0)
print("accuracy:", float(np.mean(answer["category"].argmax(axis=1) == category)))
print("price mae:", float(np.abs(answer["price"] - price).mean()),
      "of the mean price:", float(np.abs(price - price.mean()).mean()))
print("search index:", answer["features"].shape)
