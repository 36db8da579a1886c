# case: compiled_without_a_loss
# verdict: bug; static: yes
# cause: no-loss
# expect_line: 18 20
# expect_variables: - (nothing is trained)
# symptom_today: raises ValueError: No loss to compute
# exit: 1 (ValueError)
# fix: compile(..., loss=...)
# seen: a custom train_step deleted, the bare compile left behind
import keras
import numpy as np

layers = keras.layers
words = layers.Input((6,), dtype="int32")
x = layers.Embedding(30, 8)(words)
x = layers.LSTM(4)(x)
model = keras.Model(words, layers.Dense(2, activation="softmax")(x))
model.compile(optimizer="adam", metrics=["accuracy"])
rng = np.random.default_rng(0)
model.fit(rng.integers(0, 30, size=(16, 6)), rng.integers(0, 2, size=16), epochs=1, verbose=0)
