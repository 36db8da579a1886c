# case: hand_written_momentum
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: updating variables by hand with assign_sub rather than rebinding the name
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)


class Momentum:
    def __init__(self, variables, rate, decay=0.9):
        self.variables = variables
        self.rate = rate
        self.decay = decay
        self.velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def step(self, grads):
        for var, vel, grad in zip(self.variables, self.velocity, grads):
            vel.assign(self.decay * vel + grad)
            var.assign_sub(self.rate * vel)


def init(rows, cols, seed):
    return tf.Variable(tf.random.stateless_normal((rows, cols), seed=(seed, 1)) / np.sqrt(rows))


w1, b1 = init(4, 20, 1), tf.Variable(tf.zeros((20,)))
w2, b2 = init(20, 1, 2), tf.Variable(tf.zeros((1,)))
params = [w1, b1, w2, b2]
optimizer = Momentum(params, rate=0.02)


def forward(x):
    h = tf.nn.relu(x @ w1 + b1)
    return h @ w2 + b2


rng = np.random.default_rng(6)
x = rng.normal(size=(256, 4)).astype("float32")
y = (x[:, :1] ** 2 - x[:, 1:2]).astype("float32")
best, patience = np.inf, 0
for epoch in range(25):
    order = rng.permutation(256)
    for rows in order.reshape(8, 32):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((forward(x[rows]) - y[rows]) ** 2)
        optimizer.step(tape.gradient(loss, params))
    score = float(tf.reduce_mean((forward(x) - y) ** 2))
    best, patience = (score, 0) if score < best else (best, patience + 1)
    if patience > 3:
        optimizer.rate = optimizer.rate * 0.5
        patience = 0
    if epoch % 8 == 0:
        print(epoch, score)
print("best", best)
