# case: translator_fed_its_own_words
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: scheduled sampling: argmax words go back into the same decoder; the state carries the gradient
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(58)
WORDS, WIDTH, LENGTH = 9, 16, 5


class Translator(tf.Module):
    def __init__(self):
        super().__init__()
        self.reader = keras.Sequential([layers.Input((LENGTH,), dtype="int32"), layers.Embedding(WORDS, WIDTH),
                                        layers.GRU(WIDTH)], name="reader")
        self.embed = layers.Dense(WIDTH, use_bias=False, name="embed")
        self.cell = layers.GRUCell(WIDTH, name="cell")
        self.output = layers.Dense(WORDS, name="output")
        self.embed.build((None, WORDS)), self.cell.build((None, WIDTH)), self.output.build((None, WIDTH))
        parts = (self.reader, self.embed, self.cell, self.output)
        self.weights = [w for part in parts for w in part.trainable_variables]

    def losses(self, source, target, own_rate):
        state = self.reader(source, training=True)
        word = tf.zeros_like(target[:, 0])
        likelihood, entropy = 0.0, 0.0
        for t in range(LENGTH):
            hidden, (state,) = self.cell(self.embed(tf.one_hot(word, WORDS)), [state])
            log_p = tf.nn.log_softmax(self.output(hidden))
            likelihood += tf.reduce_mean(tf.gather(log_p, target[:, t], axis=1, batch_dims=1))
            entropy -= tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=-1))
            own = tf.argmax(log_p, axis=-1, output_type=tf.int32)
            word = tf.where(tf.random.uniform(tf.shape(own)) < own_rate, own, target[:, t])
        return -likelihood / LENGTH, entropy / LENGTH


model = Translator()
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def step(source, target, own_rate):
    with tf.GradientTape() as tape:
        nll, entropy = model.losses(source, target, own_rate)
        decay = tf.add_n([tf.nn.l2_loss(w) for w in model.weights])
        loss = nll - 0.01 * entropy + 1e-5 * decay
    optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
    return nll


rng = np.random.default_rng(58)
source = rng.integers(1, WORDS, size=(64, LENGTH)).astype("int32")
target = source[:, ::-1].copy()
log = [float(step(tf.constant(source), tf.constant(target), tf.constant(min(0.8, 0.05 * i)))) for i in range(15)]
print(log[0], log[-1])
assert log[-1] < log[0]
