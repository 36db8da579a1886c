# case: reverse_digits_scheduled
# verdict: bug
# cause: python-state-in-graph
# expect_line: 50 73
# expect_variables: -
# symptom_today: no error; the log prints a falling teacher ratio, but the decoder is fed the true token at every step of every epoch
# exit: 0
# fix: keep the ratio in a tf.Variable (assign it each epoch) or pass it to the step as a tensor
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)

HP = {"digits": 10, "length": 5, "units": 48, "batch": 64, "epochs": 4, "lr": 4e-3, "decay": 0.55}
GO = HP["digits"]


def make_pairs(n, seed):
    """Digit strings and the same strings read from the right."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, HP["digits"], (n, HP["length"])).astype("int32")
    return source, source[:, ::-1].copy()


class ReverseNet(keras.Model):
    """GRU encoder, GRU cell decoder; scheduled sampling after Bengio et al. 2015."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embed = layers.Embedding(HP["digits"] + 1, 16, name="embed")
        self.encoder = layers.GRU(HP["units"], return_state=True, name="encoder")
        self.cell = layers.GRUCell(HP["units"], name="decoder_cell")
        self.readout = layers.Dense(HP["digits"], name="readout")
        self.teacher_ratio = 1.0

    def call(self, inputs):
        source, target = inputs
        _, state = self.encoder(self.embed(source))
        token = tf.fill([tf.shape(source)[0]], GO)
        logits, forced = [], []
        for t in range(HP["length"]):
            out, state = self.cell(self.embed(token), state)
            step_logits = self.readout(out)
            logits.append(step_logits)
            guess = tf.argmax(step_logits, axis=-1, output_type=tf.int32)
            coin = tf.random.uniform(tf.shape(guess)) < self.teacher_ratio
            token = tf.where(coin, target[:, t], guess)
            forced.append(tf.reduce_mean(tf.cast(coin, tf.float32)))
        return tf.stack(logits, axis=1), tf.reduce_mean(tf.stack(forced))


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, source, target):
        with tf.GradientTape() as tape:
            logits, forced = self.model((source, target))
            loss = self.loss_fn(target, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, forced

    def run(self, data, epochs):
        log = []
        for epoch in range(epochs):
            self.model.teacher_ratio = HP["decay"] ** epoch
            rows = [[float(v) for v in self.step(s, t)] for s, t in data]
            loss, forced = np.mean(rows, axis=0)
            log.append((self.model.teacher_ratio, forced, loss))
            print(f"epoch {epoch}  teacher ratio {log[-1][0]:.2f}  loss {loss:.3f}")
        return log


def free_running_accuracy(model, source, target):
    model.teacher_ratio = 0.0
    logits, forced = model((source, target))
    assert float(forced) == 0.0
    return float(np.mean(np.argmax(logits, -1) == target))


source, target = make_pairs(1536, seed=1)
data = tf.data.Dataset.from_tensor_slices((source, target)).shuffle(1536, seed=3).batch(HP["batch"], drop_remainder=True)
model = ReverseNet(name="reverse")
trainer = Trainer(model, keras.optimizers.Adam(HP["lr"]))
log = trainer.run(data, HP["epochs"])
print("free running accuracy: %.3f" % free_running_accuracy(model, *make_pairs(256, seed=2)))

# the schedule asked for 17 % teacher forcing in the last epoch; the graph still does 100 %
print("ratio asked for / share of forced tokens:", [(round(r, 2), round(float(f), 2)) for r, f, _ in log])
assert log[-1][0] < 0.2
assert all(f == 1.0 for _, f, _ in log)
