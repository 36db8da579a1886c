# case: layer_norm_of_a_single_feature
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 18 23
# expect_variables: dense/*, dense_1/*, layer_normalization/* (every layer before the last normalisation)
# symptom_today: silent: the output is a constant, everything below the normalisation has a zero gradient
# exit: 0
# fix: normalise a wider layer, or leave the normalisation out before the last unit
# seen: normalisation put after every Dense layer, the last one included
import numpy as np
import keras

keras.utils.set_random_seed(1)


def block(x, units):
    x = keras.layers.Dense(units)(x)
    return keras.layers.LayerNormalization()(x)


inputs = keras.Input((5,))
x = keras.layers.Activation("gelu")(block(inputs, 16))
outputs = block(x, 1)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.SGD(0.1), "mse")
rng = np.random.default_rng(1)
data = rng.normal(size=(64, 5)).astype("float32")
first = model.layers[1].get_weights()[0]
model.fit(data, data.sum(axis=1, keepdims=True) + 2.0, epochs=3, verbose=0)
assert np.array_equal(first, model.layers[1].get_weights()[0])
assert np.ptp(model.predict(data, verbose=0)) == 0.0
