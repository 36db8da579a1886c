# case: recurrent_dropout_in_legacy_keras
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: tf_keras traces the first step of a recurrent layer once more than it runs it, dropout masks included
import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
words = rng.integers(1, 30, size=(96, 8))
positive = (words[:, :1] > 15).astype("float32")

model = tf_keras.Sequential(
    [
        tf_keras.layers.Embedding(30, 8),
        tf_keras.layers.LSTM(12, dropout=0.2, recurrent_dropout=0.2),
        tf_keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=tf_keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(words, positive, batch_size=32, epochs=6, verbose=0).history["loss"]
assert history[-1] < history[0]
