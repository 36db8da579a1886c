# case: sampled_tokens_fed_back
# verdict: bug; static: no
# cause: non-reparameterised-sample | non-differentiable-op
# expect_line: 29
# expect_variables: writer/*
# symptom_today: raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: policy gradient on log-probabilities, or a Gumbel-softmax relaxation
# seen: text GANs where a generator's words are judged by a critic
import keras
import tensorflow as tf

VOCAB, WIDTH = 7, 5


class Writer(keras.Model):
    def __init__(self):
        super().__init__(name="writer")
        self.words = keras.layers.Embedding(VOCAB, WIDTH)
        self.cell = keras.layers.GRUCell(WIDTH)
        self.to_logits = keras.layers.Dense(VOCAB)

    def call(self, seed_state, length=4):
        state = seed_state
        token = tf.zeros(tf.shape(state)[:1], tf.int64)
        text = []
        for _ in range(length):
            state, _ = self.cell(self.words(token), [state])
            token = tf.random.categorical(self.to_logits(state), 1)[:, 0]
            text.append(token)
        return tf.stack(text, axis=1)


writer = Writer()
judge = keras.Sequential([keras.layers.Embedding(VOCAB, WIDTH), keras.layers.Flatten(), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-3)


@tf.function
def train_writer():
    with tf.GradientTape() as tape:
        score = judge(writer(tf.random.normal((6, WIDTH))))
        loss = tf.reduce_mean(tf.nn.softplus(-score))
    variables = writer.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))


train_writer()
