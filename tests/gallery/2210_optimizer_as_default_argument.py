# case: optimizer_as_default_argument
# verdict: bug; static: no
# cause: optimizer-variable-mismatch
# expect_line: 16 18 33
# expect_variables: sequential_1/* (the model of the second fold)
# symptom_today: raises ValueError: Unknown variable: <Variable path=sequential_1/dense_2/kernel, ...>. This optimizer can only be called for the variables it was originally built with.
# exit: 1 (ValueError)
# fix: make a new optimizer for each model (optimizer=None, and create it inside)
# source: mrosol/Nonlincausality#12 and IoBT-VISTEC/MIN2Net#1 (optimizer made once, used for each fold)
import numpy as np
import keras

keras.utils.set_random_seed(0)


def create_model(width=8, optimizer=keras.optimizers.Adam(1e-2)):
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")
    return model


def folds(n, k):
    order = np.random.default_rng(0).permutation(n)
    for part in np.array_split(order, k):
        yield np.setdiff1d(order, part), part


x = np.random.default_rng(1).normal(size=(60, 4)).astype("float32")
y = x.sum(1, keepdims=True)
scores = []
for fold, (train, test) in enumerate(folds(len(x), 3)):
    model = create_model()
    model.fit(x[train], y[train], epochs=2, verbose=0)
    scores.append(model.evaluate(x[test], y[test], verbose=0))
    print("fold", fold, scores[-1])
