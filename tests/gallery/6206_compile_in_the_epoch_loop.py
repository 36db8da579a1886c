# case: compile_in_the_epoch_loop
# verdict: bug; static: yes
# cause: optimizer-recreated
# expect_line: 33
# expect_variables: - (Adam's moments and step count start again in every epoch)
# symptom_today: silent: optimizer.iterations shows the steps of the last epoch only
# exit: 0
# fix: compile once, before the loop
# source: pythoncymetric/cymetric PR#4 (model.compile after each epoch resets the optimizer and loses the momentum), alan-turing-institute/deepsensor#47
import numpy as np
import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype("float32")
y = np.tanh(x @ rng.normal(size=(6, 1))).astype("float32")


class Surface(keras.Model):
    def __init__(self):
        super().__init__()
        self.stack = [keras.layers.Dense(16, activation="gelu"), keras.layers.Dense(1)]

    def call(self, z):
        for layer in self.stack:
            z = layer(z)
        return z


def train(model, epochs):
    history = []
    for epoch in range(epochs):
        model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
        log = model.fit(x, y, batch_size=24, epochs=1, verbose=0)
        history.extend(log.history["loss"])
    return history


model = Surface()
losses = train(model, epochs=4)
print("losses", losses, "iterations the optimizer knows of:", int(model.optimizer.iterations))
assert int(model.optimizer.iterations) == 4
