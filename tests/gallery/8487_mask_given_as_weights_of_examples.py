# case: tagger_scalar_loss_with_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

VOCAB, TAGS, MAXLEN, PAD = 40, 5, 24, 0
N = 256

# sentences of 4..12 words, padded to 24; the tag depends on the word and the word before
lengths = rng.integers(4, 13, N)
words = np.zeros((N, MAXLEN), "int32")
tags = np.zeros((N, MAXLEN), "int32")
for i, n in enumerate(lengths):
    w = rng.integers(1, VOCAB, n)
    words[i, :n] = w
    before = np.concatenate([[0], w[:-1]])
    tags[i, :n] = (w % 3) + 2 * (before > VOCAB // 2)

dataset = tf.data.Dataset.from_tensor_slices((words, tags)).shuffle(N, seed=1).batch(32)


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 16)
        self.context = keras.layers.Conv1D(32, 3, padding="same", activation="tanh")
        self.head = keras.layers.Dense(TAGS)

    def call(self, x):
        return self.head(self.context(self.embed(x)))


tagger = Tagger()
tagger(words[:1])
opt = keras.optimizers.Adam(5e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def masked_loss(y, logits, x):
    mask = tf.cast(tf.not_equal(x, PAD), tf.float32)
    # a scalar: the mean over all positions, the padded ones with weight nought ...
    loss = xent(y, logits, sample_weight=mask)
    # ... so it is scaled up to the mean over the real words
    loss *= tf.cast(tf.size(mask), tf.float32)
    return loss / tf.reduce_sum(mask)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = masked_loss(y, tagger(x), x)
    grads = tape.gradient(loss, tagger.trainable_variables)
    opt.apply_gradients(zip(grads, tagger.trainable_variables))
    return loss


for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in dataset]
    print("epoch", epoch, "loss", np.mean(losses))

# sanity check: what stands under the padding should not matter
logits = tagger(words)
other = np.where(words == PAD, 1, tags)
print("loss", float(masked_loss(tags, logits, words)), "with other pad tags", float(masked_loss(other, logits, words)))
hit = (np.argmax(logits, -1) == tags)[words != PAD]
print("accuracy on real words", hit.mean())
