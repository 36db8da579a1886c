# case: averaged_workers_with_zero_kernels
# verdict: bug
# cause: dead-units | zero-gradient-op | predictions-collapsed
# expect_line: 20 21 22
# expect_variables: */hidden_1/*, */hidden_2/*, */out/kernel
# symptom_today: silent: the global model gives one number for every input, round after round; only the bias of the output moves
# exit: 0
# fix: leave the kernel_initializer at its default (glorot_uniform)
# source: google-parfait/tensorflow-federated#493 (results cannot improve by rounds; all Dense layers with relu and kernel_initializer='zeros')
import numpy as np
import keras

keras.utils.set_random_seed(2)
NUM_CLIENTS, ROUNDS = 2, 4


def create_model():
    model = keras.Sequential([
        keras.layers.Input((6,)),
        keras.layers.Dense(10, activation="relu", kernel_initializer="zeros", name="hidden_1"),
        keras.layers.Dense(20, activation="relu", kernel_initializer="zeros", name="hidden_2"),
        keras.layers.Dense(1, kernel_initializer="zeros", name="out"),
    ])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return model


rng = np.random.default_rng(2)
clients = []
for k in range(NUM_CLIENTS):
    xk = rng.normal(size=(60, 6)).astype("float32")
    yk = (1.5 * xk[:, :1] - xk[:, 1:2] + 0.1 * k).astype("float32")
    clients.append((xk, yk))
x_test = rng.normal(size=(40, 6)).astype("float32")

server = create_model()
workers = [create_model() for _ in range(NUM_CLIENTS)]
for rnd in range(ROUNDS):
    collected, losses = [], []
    for worker, (xk, yk) in zip(workers, clients):
        worker.set_weights(server.get_weights())
        losses.append(worker.fit(xk, yk, batch_size=20, epochs=2, verbose=0).history["loss"][-1])
        collected.append(worker.get_weights())
    server.set_weights([np.mean(ws, axis=0) for ws in zip(*collected)])
    print("round", rnd, "loss", np.mean(losses))

predictions = server.predict(x_test, verbose=0)
assert np.std(predictions) < 1e-6
assert all(np.all(w == 0) for w in server.get_weights()[:-1])
