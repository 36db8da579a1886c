# case: twenty_sigmoid_layers
# verdict: bug; static: no
# cause: vanishing-gradient
# expect_line: 17 24
# expect_variables: deep/level_0/kernel, deep/level_1/kernel (the first layers)
# symptom_today: silent: the gradient of the first layer is 1e-10 of the last one's
# exit: 0
# fix: relu or gelu, residual connections, normalisation
# seen: deep stacks with sigmoid because the textbook figure had it
import keras
import numpy as np

keras.utils.set_random_seed(1)
deep = keras.Sequential(name="deep")
deep.add(keras.layers.Input((8,)))
for number in range(20):
    deep.add(keras.layers.Dense(8, activation="sigmoid", name=f"level_{number}"))
deep.add(keras.layers.Dense(1))
deep.compile(keras.optimizers.SGD(0.5), "mse")
rng = np.random.default_rng(1)
x = rng.normal(size=(128, 8)).astype("float32")
y = x[:, :1]
first = deep.get_layer("level_0").get_weights()[0].copy()
deep.fit(x, y, epochs=4, batch_size=16, verbose=0)
change = np.abs(deep.get_layer("level_0").get_weights()[0] - first).max()
print(change)
assert change < 1e-6
