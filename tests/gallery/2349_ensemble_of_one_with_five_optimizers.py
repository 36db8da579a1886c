# case: ensemble_times_five
# verdict: bug
# cause: aliased-network
# expect_line: 34
# expect_variables: -
# symptom_today: the spread of the ensemble is 0.0 everywhere, also far outside of the data; all five members give the same numbers
# exit: 0
# fix: members = [make_member() for _ in range(K)]
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

# deep ensemble for an uncertainty estimate: 5 nets, each on its own bootstrap sample
K, N = 5, 240
x = rng.uniform(-2.0, 2.0, size=(N, 1)).astype("float32")
y = (np.sin(2.0 * x) + 0.1 * rng.normal(size=(N, 1))).astype("float32")


def make_member():
    return keras.Sequential([
        keras.Input((1,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(32, activation="tanh"),
        layers.Dense(1),
    ])


members = [make_member()] * K
optimizers = [keras.optimizers.Adam(3e-3) for _ in range(K)]
bags = [rng.integers(0, N, size=N) for _ in range(K)]


def train_member(net, opt, xb, yb):
    with tf.GradientTape() as tape:
        err = net(xb, training=True) - yb
        loss = tf.reduce_mean(tf.square(err))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return float(loss)


for epoch in range(12):
    line = []
    for net, opt, bag in zip(members, optimizers, bags):
        order = rng.permutation(bag)
        for i in range(0, N, 80):
            rows = order[i:i + 80]
            loss = train_member(net, opt, x[rows], y[rows])
        line.append(f"{loss:.3f}")
    if epoch % 3 == 0:
        print("epoch", epoch, " losses of the members", *line)

# outside of [-2, 2] the members should disagree
grid = np.linspace(-4.0, 4.0, 9, dtype="float32")[:, None]
preds = np.stack([net(grid).numpy()[:, 0] for net in members])
print("mean  ", np.round(preds.mean(axis=0), 2))
print("spread", np.round(preds.std(axis=0), 4))
