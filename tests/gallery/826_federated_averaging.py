# case: federated_averaging
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: clients train copies, the server averages the weights
import keras
import numpy as np
import tensorflow as tf


def make():
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])


keras.utils.set_random_seed(1)
server = make()
clients = [(make(), tf.random.normal((20, 4), seed=s)) for s in range(3)]


def local_training(model, x, steps=3):
    opt = keras.optimizers.SGD(0.1)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return float(loss)


history = []
for _ in range(4):
    start = server.get_weights()
    results = []
    for model, x in clients:
        model.set_weights(start)
        history.append(local_training(model, x))
        results.append(model.get_weights())
    server.set_weights([np.mean(ws, axis=0) for ws in zip(*results)])
print(history[0], history[-1])
assert history[-1] < history[0]
