# case: named_entity_chain
# verdict: bug
# cause: untracked-variable
# expect_line: 41 83
# expect_variables: transitions
# symptom_today: the loss goes down, but the CRF's transition matrix stays all zeros and the tagger makes impossible tag pairs
# exit: 0
# fix: take gradients of model.trainable_variables + [crf.transitions], or make the CRF a layer of the model
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
CFG = {"vocab": 40, "length": 9, "batch": 32, "epochs": 5, "lr": 5e-3}
STEP = np.array([[.60, .2, .0, .2, .0], [.2, .0, .8, .0, .0], [.6, .1, .2, .1, .0], [.2, .0, .0, .0, .8], [.6, .1, .0, .1, .2]])


def sentences(n, seed):
    """Tags from a Markov chain, words from an ambiguous dictionary."""
    rng = np.random.default_rng(seed)
    tags = np.zeros((n, CFG["length"]), "int32")
    for i in range(n):
        tags[i, 0] = rng.choice(5, p=[.6, .2, .0, .2, .0])
        for t in range(1, CFG["length"]):
            tags[i, t] = rng.choice(5, p=STEP[tags[i, t - 1]])
    words = tags * 8 + rng.integers(0, 8, tags.shape)
    unclear = rng.random(tags.shape) < 0.35
    return np.where(unclear, rng.integers(0, CFG["vocab"], tags.shape), words).astype("int32"), tags


class LinearChainCRF(keras.losses.Loss):
    """Negative log likelihood of the tag path, y_pred are unary scores."""

    def __init__(self, num_tags, name="crf"):
        super().__init__(name=name)
        self.transitions = keras.Variable(initializer="zeros", shape=(num_tags, num_tags), name="transitions")

    def path_score(self, tags, unary):
        emit = tf.reduce_sum(tf.gather(unary, tags, batch_dims=2), axis=1)
        pairs = tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1)
        return emit + tf.reduce_sum(tf.gather_nd(tf.convert_to_tensor(self.transitions), pairs), axis=1)

    def log_partition(self, unary):
        alpha = unary[:, 0]
        for t in range(1, unary.shape[1]):
            alpha = tf.reduce_logsumexp(alpha[:, :, None] + self.transitions[None], axis=1) + unary[:, t]
        return tf.reduce_logsumexp(alpha, axis=-1)

    def call(self, y_true, y_pred):
        tags = tf.cast(y_true, tf.int32)
        return self.log_partition(y_pred) - self.path_score(tags, y_pred)

    def viterbi(self, unary):
        trans, score, back = self.transitions.numpy(), unary[:, 0], []
        for t in range(1, unary.shape[1]):
            both = score[:, :, None] + trans[None]
            back.append(both.argmax(1))
            score = both.max(1) + unary[:, t]
        path = [score.argmax(-1)]
        for b in reversed(back):
            path.append(b[np.arange(len(b)), path[-1]])
        return np.stack(path[::-1], axis=1)


def build_tagger():
    words = keras.Input((CFG["length"],), dtype="int32")
    x = layers.Embedding(CFG["vocab"], 12, name="words")(words)
    return keras.Model(words, layers.Dense(len(TAGS), name="unary")(x), name="tagger")


def fit(model, crf, data):
    optimizer = keras.optimizers.Adam(CFG["lr"])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = crf(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    history = []
    for epoch in range(CFG["epochs"]):
        history.append(float(np.mean([step(x, y) for x, y in data])))
        print(f"epoch {epoch}  nll {history[-1]:.3f}")
    return history


x, y = sentences(1024, seed=1)
model, crf = build_tagger(), LinearChainCRF(len(TAGS))
history = fit(model, crf, tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024, seed=4).batch(CFG["batch"]))
x_test, y_test = sentences(256, seed=2)
path = crf.viterbi(model(x_test).numpy())
illegal = np.mean(STEP[path[:, :-1], path[:, 1:]] == 0)
print("tag accuracy %.3f   impossible tag pairs %.3f" % (np.mean(path == y_test), illegal))
print(crf.transitions.numpy())

with tf.GradientTape() as tape:
    check = crf(y[:64], model(x[:64]))
assert np.abs(tape.gradient(check, crf.transitions.value)).max() > 0.1  # the loss does depend on them
assert np.all(crf.transitions.numpy() == 0.0) and illegal > 0.05
assert history[-1] < history[0]
