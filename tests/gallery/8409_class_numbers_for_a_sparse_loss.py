# case: class_numbers_for_a_sparse_loss
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7409
import keras
import numpy as np

keras.utils.set_random_seed(9)
x = np.random.normal(size=(90, 4)).astype("float32")
y = x[:, :3].argmax(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=0)
