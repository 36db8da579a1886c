# case: weights_searched_by_evolution
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a population of weight vectors scored without any tape
import keras
import numpy as np

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1)])
x = rng.normal(size=(40, 3)).astype("float32")
y = np.sign(x[:, :1])
shapes = [w.shape for w in model.get_weights()]


def load(flat):
    weights, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        weights.append(flat[start : start + size].reshape(shape))
        start += size
    model.set_weights(weights)


def score(flat):
    load(flat)
    return -float(np.mean((model(x).numpy() - y) ** 2))


centre = np.concatenate([w.ravel() for w in model.get_weights()])
first = score(centre)
for generation in range(8):
    noise = rng.normal(size=(10, centre.size)).astype("float32")
    scores = np.array([score(centre + 0.1 * n) for n in noise] + [score(centre - 0.1 * n) for n in noise])
    centre = centre + 0.3 * ((scores[:10] - scores[10:])[:, None] * noise).mean(axis=0)
last = score(centre)
print(first, last)
assert last > first

# the best candidate is polished by ordinary training
model.compile(keras.optimizers.Adam(0.01), "mse")
model.fit(x, y, epochs=2, verbose=0)
