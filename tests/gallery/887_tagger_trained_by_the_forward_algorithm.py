# case: tagger_trained_by_the_forward_algorithm
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: conditional random fields: likelihood for the loss, best path for the report
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
TAGS = 4


class CRFTagger(keras.Model):
    def __init__(self, vocabulary):
        super().__init__()
        self.embed = keras.layers.Embedding(vocabulary, 8)
        self.scores = keras.layers.Dense(TAGS)
        self.transitions = self.add_weight(shape=(TAGS, TAGS), initializer="glorot_uniform", name="transitions")

    def call(self, words):
        return self.scores(self.embed(words))

    def log_norm(self, unary):
        steps = tf.transpose(unary, [1, 0, 2])

        def forward(alpha, score):
            return tf.reduce_logsumexp(alpha[:, :, None] + self.transitions[None], axis=1) + score

        alphas = tf.scan(forward, steps[1:], initializer=steps[0])
        return tf.reduce_logsumexp(alphas[-1], axis=-1)

    def path_score(self, unary, tags):
        own = tf.reduce_sum(tf.gather(unary, tags, batch_dims=2), axis=1)
        pairs = tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1)
        return own + tf.reduce_sum(tf.gather_nd(self.transitions, pairs), axis=1)

    def best(self, unary):
        return tf.argmax(unary, axis=-1, output_type=tf.int32)

    def train_step(self, data):
        words, tags = data
        with tf.GradientTape() as tape:
            unary = self(words, training=True)
            loss = tf.reduce_mean(self.log_norm(unary) - self.path_score(unary, tags))
            accuracy = tf.reduce_mean(tf.cast(self.best(unary) == tags, tf.float32))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "accuracy": accuracy}


words = tf.random.uniform((32, 6), 0, 20, dtype=tf.int32, seed=1)
tagger = CRFTagger(20)
tagger.compile(optimizer=keras.optimizers.Adam(0.05))
history = tagger.fit(words, words % TAGS, epochs=4, batch_size=8, verbose=0).history
print(history["accuracy"])
assert history["loss"][-1] < history["loss"][0]
