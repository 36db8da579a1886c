# case: symbols_drawn_for_the_decoder
# verdict: bug; static: no
# cause: non-reparameterised-sample
# expect_line: 41
# expect_variables: speaker/*
# symptom_today: silent: the speaker only becomes more random (entropy), the listener guesses
# exit: 0
# fix: Gumbel softmax with straight-through, or the score function with log probabilities
# seen: terms of the loss: listening error (cut from speaker), - 0.02 * entropy (reaches speaker only)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
VOCAB, LENGTH, MEANINGS = 6, 3, 8


class SignallingGame(keras.Model):
    """A speaker describes a meaning with a few symbols, a listener guesses it."""

    def __init__(self):
        super().__init__()
        self.speaker = keras.Sequential(
            [keras.Input((MEANINGS,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(LENGTH * VOCAB)],
            name="speaker")
        self.listener = keras.Sequential(
            [keras.Input((LENGTH * VOCAB,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(MEANINGS)],
            name="listener")

    def call(self, meaning):
        return self.listener(tf.nn.softmax(self.speaker(meaning)))

    def entropy(self, logits):
        log_p = tf.nn.log_softmax(logits)
        return -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=-1))

    def train_step(self, data):
        meaning, label = data
        with tf.GradientTape() as tape:
            logits = tf.reshape(self.speaker(meaning, training=True), (-1, VOCAB))
            symbols = tf.squeeze(tf.random.categorical(logits, 1), -1)
            message = tf.reshape(tf.one_hot(symbols, VOCAB), (-1, LENGTH * VOCAB))
            guess = self.listener(message, training=True)
            error = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, guess))
            entropy = self.entropy(logits)
            loss = error - 0.02 * entropy
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"error": error, "entropy": entropy}


labels = np.random.default_rng(17).integers(0, MEANINGS, size=256)
meanings = np.eye(MEANINGS, dtype="float32")[labels]
game = SignallingGame()
game.compile(optimizer=keras.optimizers.Adam(0.01))
history = game.fit(meanings, labels, epochs=4, batch_size=64, verbose=0).history
print({name: [round(float(v), 3) for v in values] for name, values in history.items()})
assert history["entropy"][-1] > history["entropy"][0]
