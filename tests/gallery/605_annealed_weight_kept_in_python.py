# case: annealed_weight_kept_in_python
# verdict: bug; static: no
# cause: python-state-in-graph
# expect_line: 28 36
# expect_variables: - (the Python number self.beta, the weight of the divergence)
# symptom_today: silent: the callback changes self.beta, the traced step keeps 0.0
# exit: 0
# fix: make beta a keras.Variable and assign it in the callback
# seen: KL annealing in VAEs with a callback
import keras
import numpy as np
import tensorflow as tf


class Annealed(keras.Model):
    def __init__(self):
        super().__init__()
        self.beta = 0.0
        self.code, self.back = keras.layers.Dense(2), keras.layers.Dense(5)

    def call(self, x):
        return self.back(self.code(x))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            z = self.code(x)
            penalty = tf.reduce_mean(z**2)
            loss = tf.reduce_mean((self.back(z) - x) ** 2) + self.beta * penalty
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"total": loss, "weight": tf.constant(self.beta)}


class WarmUp(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta = min(1.0, epoch / 3)


vae = Annealed()
vae.compile(optimizer=keras.optimizers.Adam(0.01))
x = np.random.default_rng(0).normal(size=(40, 5)).astype("float32")
log = vae.fit(x, epochs=4, verbose=0, callbacks=[WarmUp()]).history["weight"]
print(log, vae.beta)
assert set(log) == {0.0} and vae.beta == 1.0
