# case: stateful_character_model
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: text generation with carried states, reset between epochs
import keras
import numpy as np

keras.utils.set_random_seed(3)
text = "to be or not to be that is the question " * 8
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
BATCH, STEPS = 4, 10
usable = (len(ids) - 1) // (BATCH * STEPS) * BATCH * STEPS
rows = ids[:usable].reshape(BATCH, -1)
nexts = ids[1 : usable + 1].reshape(BATCH, -1)

inputs = keras.Input(batch_shape=(BATCH, STEPS))
x = keras.layers.Embedding(len(letters), 12)(inputs)
lstm = keras.layers.LSTM(24, stateful=True, return_sequences=True)
x = lstm(x)
model = keras.Model(inputs, keras.layers.Dense(len(letters), activation="softmax")(x))
model.compile(keras.optimizers.RMSprop(0.01), "sparse_categorical_crossentropy")

history = []
for epoch in range(6):
    lstm.reset_states()
    losses = []
    for start in range(0, rows.shape[1], STEPS):
        losses.append(model.train_on_batch(rows[:, start : start + STEPS], nexts[:, start : start + STEPS]))
    history.append(float(np.mean(losses)))
print(history)
assert history[-1] < history[0]
