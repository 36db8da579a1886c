# case: loss_summed_in_a_variable_like_torch
# verdict: bug; static: no
# cause: accumulation-loss-carried-over | assign-breaks-gradient
# expect_line: 26 27 29
# expect_variables: *
# symptom_today: fit raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: accumulate the gradients; a tape does not outlive its step and does not go through assign_add
# seen: loss.backward() habits carried into train_step
import keras
import numpy as np
import tensorflow as tf


class Accumulating(keras.Model):
    def __init__(self, every, **kwargs):
        super().__init__(**kwargs)
        self.every = every
        self.seen = tf.Variable(0, trainable=False)
        self.total = tf.Variable(0.0, trainable=False)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True)) / self.every
            self.total.assign_add(loss)
            total = self.total.read_value()
        self.seen.assign_add(1)
        grads = tape.gradient(total, self.trainable_variables)
        tf.cond(self.seen % self.every == 0, lambda: self.flush(grads), lambda: 0.0)
        return {"loss": loss}

    def flush(self, grads):
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return self.total.assign(0.0)


inputs = keras.Input((4,))
model = Accumulating(4, inputs=inputs, outputs=keras.layers.Dense(1)(inputs))
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)
