# case: decay_of_averages_from_a_counted_step
# verdict: bug
# cause: python-state-in-graph
# expect_line: 56 48 57 41
# expect_variables: -
# symptom_today: trains well, but the averaged weights are nearly the last raw weights: the average forgets after two steps
# exit: 0
# fix: keep the number of updates in a tf.Variable and compute the decay with tf.minimum
import dataclasses

import keras
import numpy as np
import tensorflow as tf


@dataclasses.dataclass
class Config:
    width: int = 24
    batch: int = 32
    steps: int = 150
    lr: float = 0.05
    max_decay: float = 0.995


def make_data(n=640, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = np.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
    y = y + 0.3 * rng.normal(size=y.shape)
    return x, y.astype("float32")


class AveragedTrainer:
    """Trains a network and keeps a running average of its weights."""

    def __init__(self, net, cfg):
        self.net = net
        self.cfg = cfg
        self.opt = keras.optimizers.SGD(cfg.lr)
        self.opt.build(net.trainable_variables)
        self.updates = 0
        self.average = [
            tf.Variable(v.value, trainable=False, name="avg_%d" % i)
            for i, v in enumerate(net.trainable_variables)
        ]

    def current_decay(self):
        return min(self.cfg.max_decay, (1 + self.updates) / (10 + self.updates))

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(x, training=True) - y))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        self.updates += 1
        decay = self.current_decay()
        for avg, var in zip(self.average, self.net.trainable_variables):
            avg.assign(decay * avg + (1.0 - decay) * var)
        return loss


def build(cfg):
    inp = keras.Input((6,))
    h = keras.layers.Dense(cfg.width, activation="tanh", name="hidden")(inp)
    return keras.Model(inp, keras.layers.Dense(1, name="out")(h))


def main():
    keras.utils.set_random_seed(11)
    cfg = Config()
    net = build(cfg)
    trainer = AveragedTrainer(net, cfg)
    expected = net.trainable_variables[0].numpy().copy()
    ds = tf.data.Dataset.from_tensor_slices(make_data())
    ds = ds.shuffle(640, seed=5).repeat().batch(cfg.batch, drop_remainder=True)
    losses = []
    for n, (x, y) in enumerate(ds.take(cfg.steps), start=1):
        losses.append(float(trainer.step(x, y)))
        d = min(cfg.max_decay, (1 + n) / (10 + n))
        expected = d * expected + (1 - d) * net.trainable_variables[0].numpy()
    raw = net.trainable_variables[0].numpy()
    avg = trainer.average[0].numpy()
    lag_is = np.linalg.norm(avg - raw)
    lag_should = np.linalg.norm(expected - raw)
    print("loss %.3f -> %.3f" % (losses[0], np.mean(losses[-10:])))
    print("distance of the average from the weights %.4f, should be %.4f" % (lag_is, lag_should))
    assert np.mean(losses[-10:]) < losses[0]
    assert lag_is < 0.2 * lag_should


if __name__ == "__main__":
    main()
