# case: contrastive_second_view_unused
# verdict: bug
# cause: sampling-noise-unused
# expect_line: 71  69  30  31  32
# expect_variables: -
# symptom_today: the contrastive loss is low from the start and the positives agree perfectly; the embedding is not invariant
# exit: 0
# fix: encode the second view: self.embed(view_b)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
DIM, CONTENT, BATCH, EPOCHS = 24, 6, 64, 10


def make_signals(n=768, seed=5):
    """Sensor windows: a few latent factors seen by many channels."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, CONTENT))
    mixing = np.random.default_rng(99).normal(size=(CONTENT, DIM)) / np.sqrt(CONTENT)
    return (latent @ mixing).astype("float32")


def augment(x, drop=0.3, jitter=0.3):
    """Drop channels, scale the whole window, add noise."""
    keep = tf.cast(tf.random.uniform(tf.shape(x)) > drop, x.dtype)
    scale = tf.random.uniform((tf.shape(x)[0], 1), 0.7, 1.3)
    return x * keep * scale + jitter * tf.random.normal(tf.shape(x))


def nt_xent(a, b, temperature):
    """Every row of `a` must find its partner in `b`, and the other way round."""
    logits = tf.matmul(a, b, transpose_b=True) / temperature
    target = tf.range(tf.shape(a)[0])
    rows = tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)
    columns = tf.nn.sparse_softmax_cross_entropy_with_logits(target, tf.transpose(logits))
    return 0.5 * tf.reduce_mean(rows + columns)


class ContrastiveModel(keras.Model):
    def __init__(self, temperature=0.2):
        super().__init__(name="contrastive")
        self.temperature = temperature
        self.encoder = keras.Sequential(
            [layers.Dense(48, activation="gelu", name="enc_1"), layers.Dense(24, activation="gelu", name="enc_2")],
            name="encoder",
        )
        self.projector = keras.Sequential([layers.Dense(16, name="proj")], name="projector")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.agreement = keras.metrics.Mean(name="agreement")

    @property
    def metrics(self):
        return [self.loss_tracker, self.agreement]

    def call(self, x):
        return self.projector(self.encoder(x))

    def embed(self, x):
        return tf.math.l2_normalize(self.projector(self.encoder(x, training=True), training=True), axis=1, epsilon=1e-6)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            view_a = augment(x)
            view_b = augment(x)
            z_a = self.embed(view_a)
            z_b = self.embed(view_a)
            loss = nt_xent(z_a, z_b, self.temperature)
        variables = self.encoder.trainable_variables + self.projector.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_tracker.update_state(loss)
        self.agreement.update_state(tf.reduce_sum(z_a * z_b, axis=1))
        return {m.name: m.result() for m in self.metrics}


def invariance(model, x):
    """How much more two views of one window agree than views of different windows."""
    a, b = model.embed(augment(x)), model.embed(augment(x))
    similarity = tf.matmul(a, b, transpose_b=True).numpy()
    own = np.diag(similarity).mean()
    return own, (similarity.argmax(1) == np.arange(len(x))).mean()


signals, held_out = make_signals(), tf.constant(make_signals(128, seed=6))
model = ContrastiveModel()
model(signals[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3))
history = model.fit(signals, batch_size=BATCH, epochs=EPOCHS, verbose=0).history
print("loss      ", [round(v, 3) for v in history["loss"]])
print("agreement ", [round(v, 4) for v in history["agreement"]])
own, found = invariance(model, held_out)
print("two views: similarity %.3f, partner found %.2f" % (own, found))
assert min(history["agreement"]) > 0.9999

# the same model, given both views
right = ContrastiveModel()
right(signals[:2])
opt = keras.optimizers.Adam(2e-3)
for epoch in range(EPOCHS):
    for i in range(0, len(signals), BATCH):
        batch = tf.constant(signals[i : i + BATCH])
        with tf.GradientTape() as tape:
            loss = nt_xent(right.embed(augment(batch)), right.embed(augment(batch)), 0.2)
        opt.apply_gradients(zip(tape.gradient(loss, right.trainable_variables), right.trainable_variables))
own_right, found_right = invariance(right, held_out)
print("trained with both: similarity %.3f, partner found %.2f" % (own_right, found_right))
assert own_right > own + 0.05 and found_right > found
