# case: price_head_without_loss
# verdict: bug
# cause: variable-not-in-loss | no-loss
# expect_line: 37 40 42
# expect_variables: price/*
# symptom_today: Keras warns that gradients do not exist for price/kernel and price/bias; price_mae stays bad while the category is learned
# exit: 0
# fix: give the second output its loss too: loss={"category": ..., "price": "mse"}
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
    return layers.Dense(16, activation="tanh", name="trunk_2")(h)


inputs = keras.Input((10,), name="measurements")
features = shared_trunk(inputs)
category_out = layers.Dense(N_CATEGORIES, activation="softmax", name="category")(features)
price_out = layers.Dense(1, name="price")(features)  # new in this version of the model
model = keras.Model(inputs, {"category": category_out, "price": price_out})

model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss={"category": "sparse_categorical_crossentropy"},
    metrics={"category": ["accuracy"], "price": ["mae"]},
)

x, category, price = load_products()
history = model.fit(
    x,
    {"category": category, "price": price},
    batch_size=48,
    epochs=8,
    verbose=0,
)
log = history.history
for epoch in range(8):
    print(f"epoch {epoch}: loss {log['loss'][epoch]:.4f}  "
          f"accuracy {log['category_accuracy'][epoch]:.3f}  price mae {log['price_mae'][epoch]:.3f}")
print("mae of the mean price:", float(np.abs(price - price.mean()).mean()))
