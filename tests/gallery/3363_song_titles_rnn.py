# case: song_titles_rnn
# verdict: bug
# cause: clip-unused; also: exploding-gradient at line 73, saturated-units at line 48
# expect_line: 74 75
# expect_variables: -
# symptom_today: no error; the loss jumps up and down although gradients are "clipped"; steps are many times longer than the clip allows
# exit: 0
# fix: apply the clipped gradients (the function returns new tensors, it does not change its argument)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(90)

HPARAMS = {"units": 64, "batch": 16, "length": 20, "epochs": 6, "lr": 0.2, "max_norm": 1.0}
ADJECTIVES = "blue lonely golden broken silver midnight electric gentle".split()
NOUNS = "river train heart summer garden highway mirror thunder".split()
ENDS = "blues tonight again song for you in the rain".split()


def titles(n, seed):
    rng = np.random.default_rng(seed)
    return [" ".join([rng.choice(ADJECTIVES), rng.choice(NOUNS), rng.choice(ENDS)]) for _ in range(n)]


class CharTable:
    def __init__(self, lines):
        self.chars = ["<pad>"] + sorted(set("".join(lines)))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def encode(self, lines):
        out = np.zeros((len(lines), HPARAMS["length"] + 1), "int32")
        for row, line in enumerate(lines):
            ids = [self.index[c] for c in line][: HPARAMS["length"] + 1]
            out[row, : len(ids)] = ids
        return out


class TitleRNN(keras.Model):
    """The vanilla recurrent network of the char-rnn post."""

    def __init__(self, vocab, **kwargs):
        super().__init__(**kwargs)
        self.embed = layers.Embedding(vocab, 16, name="embed")
        self.rnn = layers.SimpleRNN(HPARAMS["units"], return_sequences=True, name="rnn")
        self.logits = layers.Dense(vocab, name="logits")

    def call(self, tokens):
        return self.logits(self.rnn(self.embed(tokens)))


def sequence_loss(tokens, logits):
    """Summed over time, averaged over the titles, padding left out."""
    target = tokens[:, 1:]
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    mask = tf.cast(target != 0, tf.float32)
    return tf.reduce_mean(tf.reduce_sum(each * mask, axis=1)), tf.reduce_sum(mask) / tf.cast(tf.shape(tokens)[0], tf.float32)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = keras.optimizers.SGD(HPARAMS["lr"])

    @tf.function
    def step(self, tokens):
        with tf.GradientTape() as tape:
            loss, length = sequence_loss(tokens, self.model(tokens[:, :-1]))
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        clipped, norm = tf.clip_by_global_norm(grads, HPARAMS["max_norm"])
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss / length, norm, tf.linalg.global_norm(clipped)


lines = titles(512, seed=1)
table = CharTable(lines)
tokens = table.encode(lines)
data = tf.data.Dataset.from_tensor_slices(tokens).shuffle(512, seed=2).batch(HPARAMS["batch"])
model = TitleRNN(len(table.chars), name="titles")
trainer = Trainer(model)
model(tokens[:1, :-1])

lengths, losses = [], []
for epoch in range(HPARAMS["epochs"]):
    rows = []
    for batch in data:
        old = [v.numpy() for v in model.trainable_variables]
        rows.append([float(v) for v in trainer.step(batch)])
        moved = np.sqrt(sum(np.sum((v.numpy() - o) ** 2) for v, o in zip(model.trainable_variables, old)))
        lengths.append(moved / HPARAMS["lr"])
        losses.append(rows[-1][0])
    mean = np.mean(rows, axis=0)
    print(f"epoch {epoch}  loss per character {mean[0]:.3f}  norm {mean[1]:.1f}  clipped to {mean[2]:.2f}")

print("longest step in units of the learning rate: %.1f (the clip allows %.1f)" % (max(lengths), HPARAMS["max_norm"]))
assert max(lengths) > 8 * HPARAMS["max_norm"]
uniform = np.log(len(table.chars))
print("loss per character at the end %.2f, of a uniform guess %.2f" % (np.mean(losses[-32:]), uniform))
assert max(losses) > 3 * uniform and np.mean(losses[-32:]) > 1.3  # clipped updates stay far below
