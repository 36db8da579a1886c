# case: accuracy_logged_before_the_step
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 42
# expect_variables: w1, b1, w2, b2
# symptom_today: silent: gradients for every variable, accuracy stays where it began while the weights shrink
# exit: 0
# fix: call the network inside the with block
# seen: terms of the loss: cross entropy (reaches nothing), weight decay (reaches all)
import numpy as np
import tensorflow as tf

tf.random.set_seed(5)


class Net(tf.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal((inputs, hidden), stddev=0.5, seed=1), name="w1")
        self.b1 = tf.Variable(tf.fill((hidden,), 0.1), name="b1")
        self.w2 = tf.Variable(tf.random.normal((hidden, classes), stddev=0.5, seed=2), name="w2")
        self.b2 = tf.Variable(tf.fill((classes,), 0.1), name="b2")

    def __call__(self, x):
        return tf.tanh(x @ self.w1 + self.b1) @ self.w2 + self.b2


def l2(weights, rate):
    return rate * sum(tf.nn.l2_loss(w) for w in weights)


def accuracy(logits, y):
    return float(tf.reduce_mean(tf.cast(tf.argmax(logits, -1) == y, tf.float32)))


rng = np.random.default_rng(5)
x = tf.constant(rng.normal(size=(120, 4)), tf.float32)
y = tf.constant((rng.normal(size=(120,)) * 0.1 + x.numpy()[:, 0] > 0).astype("int64"))
net = Net(4, 10, 2)
log = []
for step in range(12):
    logits = net(x)
    log.append(accuracy(logits, y))
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(ce) + l2(net.trainable_variables, 1e-2)
    for v, g in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
        v.assign_sub(0.3 * g)
print("accuracy", log[0], "->", log[-1])
assert abs(log[-1] - log[0]) < 0.1
