# case: rate_finder_that_puts_the_weights_back
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: learning-rate range tests before the real training
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
x = rng.normal(size=(128, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1))).astype("float32")


def build():
    hidden = keras.layers.Dense(16, activation="relu")
    return keras.Sequential([keras.layers.Input((6,)), hidden, keras.layers.Dense(1)])


def find_rate(model, low=1e-4, high=0.05, steps=15):
    saved = model.get_weights()
    opt = keras.optimizers.SGD(low)
    rates, losses = np.geomspace(low, high, steps), []

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(xb, training=True) - yb) ** 2)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    for i, rate in enumerate(rates):
        opt.learning_rate = rate
        rows = slice(16 * i % 128, 16 * i % 128 + 16)
        losses.append(float(step(x[rows], y[rows])))
    model.set_weights(saved)
    return float(rates[int(np.argmin(losses))]) / 10.0


model = build()
rate = find_rate(model)
model.compile(keras.optimizers.SGD(rate, momentum=0.9), "mse")
history = model.fit(x, y, batch_size=16, epochs=4, verbose=0).history["loss"]
print(rate, history)
assert history[-1] < history[0]
