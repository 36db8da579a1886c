# case: softmax_on_one_output
# verdict: bug; static: yes
# cause: one-unit-softmax | zero-gradient-op
# expect_line: 21
# expect_variables: dense/*, dense_1/* (gradient exactly 0)
# symptom_today: UserWarning of Keras about a softmax over an axis of size 1; the loss is constant
# exit: 0
# fix: sigmoid for one output (or two outputs with softmax)
# source: keras-team/keras#126 (predict_proba gives all ones) and keras-team/keras#7023
import numpy as np
import keras

keras.utils.set_random_seed(0)
points = np.array([[0.0, 0.1], [0.6, 0.8], [0.1, 0.2], [0.9, 0.8], [0.9, 0.7], [0.3, 0.0], [0.2, 0.2], [0.5, 0.9]], dtype="float32")
labels = (points.sum(1) > 0.5).astype("float32")

model = keras.models.Sequential()
model.add(keras.layers.Input((2,)))
model.add(keras.layers.Dense(32, activation="tanh"))
model.add(keras.layers.Dropout(0.2))
model.add(keras.layers.Dense(1, activation="softmax"))
model.compile(loss="mean_squared_error", optimizer=keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True))

history = model.fit(points, labels, epochs=20, batch_size=8, verbose=0)
print("loss", history.history["loss"][0], "->", history.history["loss"][-1])
print(model.predict(points, verbose=0).ravel())
assert history.history["loss"][0] == history.history["loss"][-1]
