# case: metrics_as_third_argument_of_compile
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 14
# expect_variables: -
# symptom_today: ValueError: dtype='string' is not a valid dtype for Keras type promotion, from inside fit
# exit: 1
# fix: model.compile("sgd", "mse", metrics=["mae"])
import keras
import numpy as np

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", ["mae"])
x = np.random.rand(16, 3).astype("float32")
model.fit(x, x[:, :1], verbose=0)
