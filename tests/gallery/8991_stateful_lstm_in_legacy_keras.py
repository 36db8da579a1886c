# case: stateful_lstm_in_legacy_keras
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a stateful recurrent layer of tf_keras keeps its state in variables that are in none of its lists
import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)
series = np.random.default_rng(1).uniform(-0.1, 0.1, size=(121,)).astype("float32")
inputs, targets = series[1:].reshape(-1, 1, 1), ((series[1:] + series[:-1]) / 2).reshape(-1, 1)

model = tf_keras.Sequential()
model.add(tf_keras.layers.LSTM(8, batch_input_shape=(4, 1, 1), stateful=True))
model.add(tf_keras.layers.Dense(1))
model.compile(optimizer=tf_keras.optimizers.Adam(0.01), loss="mse")

losses = []
for epoch in range(4):
    losses += model.fit(inputs, targets, batch_size=4, epochs=1, shuffle=False, verbose=0).history["loss"]
    model.reset_states()
assert losses[-1] < losses[0]
