# case: half_adam_large_epsilon
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: a model all in float16 with Adam, but epsilon is large enough for half precision and the loss goes down
# exit: 0
# fix: -
import numpy as np
import keras

keras.utils.set_random_seed(21)
keras.backend.set_floatx("float16")  # whole model in half precision, to save memory

rng = np.random.default_rng(4)
n = 384
x = rng.normal(size=(n, 10)).astype("float16")
t = np.tanh(x[:, 0]) + 0.5 * x[:, 1] - 0.3 * x[:, 2] * x[:, 3]
t = t.reshape(-1, 1).astype("float16")


class LossLog(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(float(logs["loss"]))


inp = keras.Input((10,))
h = keras.layers.Dense(32, activation="tanh", name="h1")(inp)
h = keras.layers.Dense(32, activation="tanh", name="h2")(h)
out = keras.layers.Dense(1, name="out")(h)
model = keras.Model(inp, out)

# 1e-8 is nothing in half precision, so a much larger epsilon
adam = keras.optimizers.Adam(2e-3, beta_1=0.9, beta_2=0.999, epsilon=1e-3)
model.compile(optimizer=adam, loss="mse")

log = LossLog()
hist = model.fit(x, t, batch_size=32, epochs=8, verbose=0, callbacks=[log])
print("first batches", [round(v, 4) for v in log.seen[:4]])
for e, v in enumerate(hist.history["loss"]):
    print("epoch", e, "loss", v)
for w in model.trainable_variables:
    print(w.path, w.dtype, "finite:", bool(np.isfinite(w.numpy()).all()))
