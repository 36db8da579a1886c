# case: kfold_reset
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: each fold begins at the same initial weights with a new optimizer
# exit: 0
# fix: -
import numpy as np
import keras

keras.utils.set_random_seed(62)

N, FOLDS = 180, 3
features = np.random.normal(size=(N, 6)).astype("float32")
target = np.tanh(features[:, 0] - features[:, 1]) + 0.1 * np.random.normal(size=N)
target = target.astype("float32")[:, None]
target = (target - target.mean()) / target.std()

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="tanh"),
    keras.layers.Dense(16, activation="tanh"),
    keras.layers.Dense(1),
])
initial = model.get_weights()          # NumPy copies


def kfold(n, k):
    order = np.random.permutation(n)
    parts = np.array_split(order, k)
    for i in range(k):
        yield np.concatenate(parts[:i] + parts[i + 1:]), parts[i]


def restart(net):
    """One model for all folds, but nothing of the last fold may survive: weights and moments."""
    net.set_weights(initial)
    net.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])


scores = []
for fold, (train, held_out) in enumerate(kfold(N, FOLDS)):
    restart(model)
    hist = model.fit(
        features[train], target[train],
        validation_data=(features[held_out], target[held_out]),
        epochs=8, batch_size=12, verbose=0,
    )
    scores.append(hist.history["val_loss"][-1])
    print(f"fold {fold}: loss {hist.history['loss'][0]:.3f} -> {hist.history['loss'][-1]:.3f}"
          f"  first val {hist.history['val_loss'][0]:.3f}  last val {scores[-1]:.3f}")
print("cross-validated mse:", np.mean(scores))
