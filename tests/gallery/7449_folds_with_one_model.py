# case: kfold_same_model
# verdict: bug
# cause: validation-leaks-into-training
# expect_line: 39 42 44
# expect_variables: -
# symptom_today: the first validation loss of each fold is better than that of the fold before, far below the noise of the labels
# exit: 0
# fix: make the model (and its optimizer) anew inside of the loop over the folds
import numpy as np
import keras

keras.utils.set_random_seed(61)

N, FOLDS = 180, 3
features = np.random.normal(size=(N, 10)).astype("float32")
clean = np.tanh(features[:, 0] - features[:, 1])
target = (clean + 0.8 * np.random.normal(size=N)).astype("float32")[:, None]     # noisy measurements
target = (target - target.mean()) / target.std()


def build_model():
    net = keras.Sequential([
        keras.Input((10,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(1),
    ])
    net.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
    return net


def kfold(n, k):
    order = np.random.permutation(n)
    parts = np.array_split(order, k)
    for i in range(k):
        yield np.concatenate(parts[:i] + parts[i + 1:]), parts[i]


model = build_model()
scores = []
for fold, (train, held_out) in enumerate(kfold(N, FOLDS)):
    hist = model.fit(
        features[train], target[train],
        validation_data=(features[held_out], target[held_out]),
        epochs=12, batch_size=20, verbose=0,
    )
    scores.append(hist.history["val_loss"][-1])
    print(f"fold {fold}: loss {hist.history['loss'][-1]:.3f}  first val {hist.history['val_loss'][0]:.3f}"
          f"  last val {scores[-1]:.3f}")
print("cross-validated mse:", np.mean(scores))
