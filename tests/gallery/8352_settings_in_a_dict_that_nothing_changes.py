# case: settings_in_a_dict_that_nothing_changes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: numbers in dicts and lists: settings that stay, and a log that a traced step never computes with
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
settings = {"rate": 0.01, "decay": 1e-3, "epochs": 5}
best = [np.inf, 0]
seen = {"steps": 0, "traces": 0}
optimizer = keras.optimizers.Adam(settings["rate"])
x = np.random.default_rng(2).normal(size=(16, 4)).astype("float32")
y = x[:, :1]


@tf.function
def step(x, y):
    seen["traces"] += 1
    print("tracing", seen["steps"])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
        loss += settings["decay"] * tf.add_n([tf.nn.l2_loss(v) for v in net.trainable_variables])
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


for epoch in range(settings["epochs"]):
    loss = float(step(x, y))
    seen["steps"] += 1
    if loss < best[0]:
        best[:] = [loss, epoch]
print(best, seen)
