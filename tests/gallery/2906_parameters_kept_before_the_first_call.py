# case: parameters_kept_before_the_first_call
# verdict: bug
# cause: unbuilt-model; also: never-updated at line 40
# expect_line: 31 75
# expect_variables: enc/kernel, enc/bias, mid/kernel, mid/bias, out/kernel, out/bias
# symptom_today: gradients are fine and of a good size, the loss never moves, no warning
# exit: 0
# fix: call the model on one batch (or build it) before the trainer makes its buffers
import keras
import numpy as np
import tensorflow as tf


class Scorer(keras.Model):
    def __init__(self, width=32):
        super().__init__()
        self.enc = keras.layers.Dense(width, activation="relu", name="enc")
        self.mid = keras.layers.Dense(width, activation="relu", name="mid")
        self.out = keras.layers.Dense(1, name="out")

    def call(self, x):
        return self.out(self.mid(self.enc(x)))


class LargeBatchTrainer:
    """Heavy-ball descent on the mean gradient of `every` small batches."""

    def __init__(self, model, lr=0.05, momentum=0.8, every=4):
        self.model = model
        self.lr, self.momentum, self.every = lr, momentum, every
        self.params = model.trainable_variables
        self.buffers = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.params]
        self.velocity = [tf.Variable(tf.zeros_like(p), trainable=False) for p in self.params]

    @tf.function
    def accumulate(self, x, y):
        with tf.GradientTape() as tape:
            err = self.model(x, training=True) - y
            loss = tf.reduce_mean(tf.square(err))
        grads = tape.gradient(loss, self.model.trainable_variables)
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(g / self.every)
        return loss, tf.linalg.global_norm(grads)

    @tf.function
    def update(self):
        for p, buf, vel in zip(self.params, self.buffers, self.velocity):
            vel.assign(self.momentum * vel + buf)
            p.assign_sub(self.lr * vel)
            buf.assign(tf.zeros_like(buf))

    def epoch(self, ds):
        losses, norms = [], []
        for i, (x, y) in enumerate(ds, start=1):
            loss, norm = self.accumulate(x, y)
            losses.append(float(loss))
            norms.append(float(norm))
            if i % self.every == 0:
                self.update()
        return np.mean(losses), np.mean(norms)


def housing(n=512, seed=12):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 8)).astype("float32")
    y = x[:, :1] - 0.7 * x[:, 1:2] + np.abs(x[:, 2:3]) + 0.1 * rng.normal(size=(n, 1))
    return x, y.astype("float32")


def main():
    keras.utils.set_random_seed(33)
    data = housing()
    ds = tf.data.Dataset.from_tensor_slices(data).batch(32)
    model = Scorer()
    trainer = LargeBatchTrainer(model)
    results = [trainer.epoch(ds) for _ in range(5)]
    for i, (loss, norm) in enumerate(results):
        print("epoch %d loss %.4f gradient norm %.3f" % (i, loss, norm))
    losses = [r[0] for r in results]
    assert len(model.trainable_variables) == 6
    assert min(r[1] for r in results) > 0.1
    assert max(losses) - min(losses) < 1e-6


if __name__ == "__main__":
    main()
