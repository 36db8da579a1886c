# case: sage_scatter_mean_fast
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none, the loss goes down; the hand-written backward pass is the true derivative of the mean
# exit: 0
# fix: -
"""GraphSAGE regression of river gauges: each gauge listens to the gauges upstream of it."""
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

N, F = 80, 6
src, dst = [], []
for node in range(N):
    for other in rng.choice(N, size=rng.integers(2, 9), replace=False):
        src.append(int(other))
        dst.append(node)
SRC, DST = tf.constant(src), tf.constant(dst)

gauges = rng.normal(size=(N, F)).astype("float32")
upstream = np.stack([gauges[[s for s, d in zip(src, dst) if d == n]].mean(0) for n in range(N)])
level = np.tanh(gauges @ rng.normal(size=F) * 0.4 + upstream @ rng.normal(size=F))
level = level.astype("float32")[:, None]


@tf.custom_gradient
def scatter_mean(messages, dst):
    """Mean of the messages that arrive at each node. Own backward pass: the gather is
    much cheaper than what autodiff makes of the division."""
    total = tf.math.unsorted_segment_sum(messages, dst, N)
    count = tf.math.unsorted_segment_sum(tf.ones_like(dst, tf.float32), dst, N)
    count = tf.maximum(count, 1.0)[:, None]

    def grad(dout):
        # every edge gets its share of what came to the node it points to
        return tf.gather(dout / count, dst), None
    return total / count, grad


class Sage(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.msg = keras.layers.Dense(units, use_bias=False, name="msg")
        self.own = keras.layers.Dense(units, name="own")

    def call(self, h):
        return self.own(h) + scatter_mean(self.msg(tf.gather(h, SRC)), DST)


class GaugeNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.s1 = Sage(16, name="sage_1")
        self.s2 = Sage(1, name="sage_2")

    def call(self, x):
        return self.s2(tf.nn.tanh(self.s1(x)))


net = GaugeNet()
net.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
# the graph is one batch
log = net.fit(gauges, level, batch_size=N, epochs=60, shuffle=False, verbose=0)
print("mse:", [round(v, 4) for v in log.history["loss"][::10]])

# own backward pass, so compare with finite differences in one direction
kernel = net.s1.msg.kernel
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(net(gauges) - level))
slope = tf.reduce_sum(tape.gradient(loss, kernel.value))
w0, eps, ends = kernel.numpy(), 1e-2, []
for sign in (1, -1):
    kernel.assign(w0 + sign * eps)
    ends.append(float(tf.reduce_mean(tf.square(net(gauges) - level))))
kernel.assign(w0)
print("slope by tape", float(slope), "  by differences", (ends[0] - ends[1]) / (2 * eps))
