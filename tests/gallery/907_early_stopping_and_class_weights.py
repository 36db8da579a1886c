# case: early_stopping_and_class_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: an imbalanced classifier with callbacks and restored weights
import keras
import numpy as np

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
x = rng.normal(size=(300, 8)).astype("float32")
y = (x[:, 0] + 0.3 * rng.normal(size=300) > 1.2).astype("float32")
weights = {0: 1.0, 1: float((y == 0).sum() / max((y == 1).sum(), 1))}

normalise = keras.layers.Normalization()
normalise.adapt(x)
model = keras.Sequential([
    keras.layers.Input((8,)),
    normalise,
    keras.layers.Dense(16, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-4)),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryFocalCrossentropy(gamma=2.0),
              metrics=[keras.metrics.AUC(name="auc")])
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True)
slow = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=1)
history = model.fit(x, y, validation_split=0.2, epochs=6, class_weight=weights, callbacks=[stop, slow], verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
