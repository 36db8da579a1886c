# case: rnn_port_from_pytorch
# verdict: bug
# cause: clip-unused
# expect_line: 77 90 92
# expect_variables: -
# symptom_today: no error; the loss jumps about, the steps are many times longer than lr * max_norm allows
# exit: 0
# fix: use the clipped list that clip_by_global_norm returns: grads, norm = tf.clip_by_global_norm(grads, max_norm)
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=24)
parser.add_argument("--length", type=int, default=12)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--max-norm", type=float, default=0.5)
parser.add_argument("--iters", type=int, default=120)
parser.add_argument("--log-every", type=int, default=20)
opt = parser.parse_args([])

tf.random.set_seed(8)


class Linear(tf.Module):
    def __init__(self, fan_in, fan_out, rng, name):
        super().__init__(name=name)
        bound = 1.0 / np.sqrt(fan_in)
        self.weight = tf.Variable(rng.uniform(-bound, bound, (fan_in, fan_out)).astype("float32"), name="weight")
        self.bias = tf.Variable(rng.uniform(-bound, bound, (fan_out,)).astype("float32"), name="bias")

    def __call__(self, x):
        return tf.matmul(x, self.weight) + self.bias


class ElmanRNN(tf.Module):
    def __init__(self, hidden, rng):
        super().__init__(name="rnn")
        self.i2h = Linear(2, hidden, rng, "i2h")
        self.h2h = Linear(hidden, hidden, rng, "h2h")
        self.h2o = Linear(hidden, 1, rng, "h2o")
        self.hidden = hidden

    def forward(self, x):
        h = tf.zeros([x.shape[0], self.hidden])
        for t in range(x.shape[1]):
            h = tf.tanh(self.i2h(x[:, t]) + self.h2h(h))
        return tf.squeeze(self.h2o(h), axis=-1)


def adding_batch(n, length, rng):
    """Two marked entries of a sequence are to be added up (and weighted by ten)."""
    values = rng.uniform(0.0, 1.0, (n, length))
    marks = np.zeros((n, length))
    first = rng.integers(0, length // 2, n)
    second = rng.integers(length // 2, length, n)
    marks[np.arange(n), first] = 1.0
    marks[np.arange(n), second] = 1.0
    target = 10.0 * (values * marks).sum(1)
    x = np.stack([values, marks], axis=-1)
    return tf.constant(x, tf.float32), tf.constant(target, tf.float32)


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def step(self, grads):
        for p, g in zip(self.params, grads):
            p.assign_sub(self.lr * g)


def clip_grad_norm_(grads, max_norm):
    """As torch.nn.utils.clip_grad_norm_: gives the norm before clipping."""
    _, norm = tf.clip_by_global_norm(grads, max_norm)
    return norm


rng = np.random.default_rng(8)
net = ElmanRNN(opt.hidden, rng)
optimizer = SGD(net.trainable_variables, opt.lr)
norms, steps, losses = [], [], []
for it in range(opt.iters):
    x, y = adding_batch(32, opt.length, rng)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net.forward(x) - y))
    grads = tape.gradient(loss, optimizer.params)
    norm = clip_grad_norm_(grads, opt.max_norm)
    before = [p.numpy() for p in optimizer.params]
    optimizer.step(grads)
    length = np.sqrt(sum(((p.numpy() - b) ** 2).sum() for p, b in zip(optimizer.params, before)))
    norms.append(float(norm))
    steps.append(length)
    losses.append(float(loss))
    if it % opt.log_every == 0:
        print(f"iter {it:4d}  loss {losses[-1]:8.3f}  grad norm {norms[-1]:7.3f}  step {length:.4f}")

limit = opt.lr * opt.max_norm
print(f"longest step {max(steps):.4f}, allowed by the clipping {limit:.4f}")
assert max(steps) > 5 * limit
assert np.mean(np.array(steps) > 1.01 * limit) > 0.8
