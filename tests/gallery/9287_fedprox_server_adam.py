# case: fedprox_server_adam
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the mean change of the clients is handed to the server's Adam as a gradient, clients start every round afresh
# exit: 0
# fix: -
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(41)
FED = dict(rounds=12, local_steps=5, batch=32, client_lr=0.1, server_lr=0.05, proximal=0.1)
CLASSES, FEATURES = 3, 6


def client_data(sizes, seed):
    """Every client sees the classes in other proportions."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(CLASSES, FEATURES)) * 1.2
    shards = []
    for n in sizes:
        label = rng.choice(CLASSES, n, p=rng.dirichlet([1.5] * CLASSES))
        x = centres[label] + rng.normal(size=(n, FEATURES))
        shards.append((x.astype("float32"), label.astype("int32")))
    return shards


def build(name):
    return keras.Sequential([
        keras.Input((FEATURES,)),
        keras.layers.Dense(16, activation="tanh", name=f"{name}_hidden"),
        keras.layers.Dense(CLASSES, name=f"{name}_logits"),
    ], name=name)


class Client:
    """Trains one shared working copy, starting from what the server sends."""

    def __init__(self, shard, working_copy, config, seed):
        self.x, self.y = shard
        self.net = working_copy
        self.config = config
        self.rng = np.random.default_rng(seed)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def round(self, global_weights):
        self.net.set_weights(global_weights)
        anchor = [tf.constant(w) for w in global_weights]
        variables = self.net.trainable_variables
        sgd = keras.optimizers.SGD(self.config["client_lr"])  # without momentum: nothing to keep between rounds
        for _ in range(self.config["local_steps"]):
            pick = self.rng.choice(len(self.x), self.config["batch"], replace=False)
            with tf.GradientTape() as tape:
                fit = self.loss_fn(self.y[pick], self.net(self.x[pick], training=True))
                apart = tf.add_n([tf.reduce_sum(tf.square(v - a)) for v, a in zip(variables, anchor)])
                loss = fit + 0.5 * self.config["proximal"] * apart
            sgd.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return [v.numpy() - w for v, w in zip(variables, global_weights)], len(self.x), float(fit)


class Server:
    def __init__(self, config):
        self.net = build("global")
        self.optimizer = keras.optimizers.Adam(config["server_lr"], beta_2=0.99, epsilon=1e-3)

    def aggregate(self, updates):
        """FedOpt: minus the weighted mean change of the clients plays the part of the gradient."""
        total = sum(n for _, n, _ in updates)
        pseudo = None
        for change, n, _ in updates:
            part = [-(n / total) * c for c in change]
            pseudo = part if pseudo is None else [a + b for a, b in zip(pseudo, part)]
        self.optimizer.apply_gradients(
            [(tf.constant(g), v) for g, v in zip(pseudo, self.net.trainable_variables)])

    def evaluate(self, shards):
        x = np.concatenate([s[0] for s in shards])
        y = np.concatenate([s[1] for s in shards])
        logits = self.net(x, training=False)
        loss = keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        return float(tf.reduce_mean(loss)), float(np.mean(np.argmax(logits, 1) == y))


shards = client_data((160, 90, 60, 120), seed=3)
server = Server(FED)
working_copy = build("client")
clients = [Client(shard, working_copy, FED, seed=10 + k) for k, shard in enumerate(shards)]
start = server.evaluate(shards)
for r in range(FED["rounds"]):
    weights = server.net.get_weights()
    updates = [c.round(weights) for c in clients]
    server.aggregate(updates)
    if r % 3 == 0 or r == FED["rounds"] - 1:
        print(f"round {r:2d}  local {np.mean([u[2] for u in updates]):.3f}  global %.3f  accuracy %.3f"
              % server.evaluate(shards))
end = server.evaluate(shards)
assert end[0] < 0.6 * start[0] and end[1] > 0.85
