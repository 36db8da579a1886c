# case: running_total_of_losses
# verdict: bug; static: no
# cause: accumulation-loss-carried-over | outside-tape
# expect_line: 32 34
# expect_variables: - (the running loss: only the last micro-batch of each group is in the gradient)
# symptom_today: silent: 3 of 4 batches have no influence
# exit: 0
# fix: accumulate gradients, not losses (each tape knows only its own batch)
# source: tensorflow/tensorflow#55478 = tensorflow/addons#2686 (adds the losses of several train_steps and differentiates the total; the loss does not fall as it should)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class LossAccumulation(keras.Model):
    def __init__(self, n_gradients):
        super().__init__()
        self.n_gradients, self.n_seen = n_gradients, 0
        self.total_loss = 0.0
        self.out = keras.layers.Dense(1, use_bias=False)

    def call(self, x):
        return self.out(x)

    def train_step(self, data):
        x, y = data
        self.n_seen += 1
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y)) / self.n_gradients
            self.total_loss += loss
        if self.n_seen == self.n_gradients:
            grads = tape.gradient(self.total_loss, self.trainable_variables)
            self.last_only = tf.norm(grads[0])
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
            self.total_loss, self.n_seen = 0.0, 0
        return {"loss": loss}


rng = np.random.default_rng(1)
x = rng.normal(size=(32, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)
x[24:] = 0.0                                         # the last batch of the group teaches nothing
y[24:] = 0.0
model = LossAccumulation(4)
model.compile("sgd", run_eagerly=True)
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0)
print("norm of the gradient of the whole group:", float(model.last_only))
assert float(model.last_only) == 0.0
