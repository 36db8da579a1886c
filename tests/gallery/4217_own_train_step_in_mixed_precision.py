# case: own_train_step_in_mixed_precision
# verdict: bug; static: no
# cause: loss-scale-missing
# expect_line: 32 31 33
# expect_variables: - (all updates are 32768 times too small)
# symptom_today: silent: the loss does not move; compile() wrapped the optimizer in a LossScaleOptimizer on its own
# exit: 0
# fix: loss = self.optimizer.scale_loss(loss) inside the tape
# source: keras-team/keras#19244 (custom training under mixed precision does not improve), keras-team/keras#16552 (how to scale by hand)
import numpy as np
import tensorflow as tf
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.out = keras.layers.Dense(1, dtype="float32")
        self.seen = keras.metrics.Mean(name="mse")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.seen.update_state(loss)
        return {"mse": self.seen.result()}


x = np.random.default_rng(0).normal(size=(128, 5)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = Regressor()
model.compile(optimizer=keras.optimizers.SGD(0.05))
log = model.fit(x, y, batch_size=16, epochs=6, shuffle=False, verbose=0).history["mse"]
print(type(model.optimizer).__name__, "mse", log)
assert log[-1] > 0.98 * log[0]
