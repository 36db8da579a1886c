# case: loss_summed_over_steps
# verdict: bug
# cause: accumulation-loss-carried-over | outside-tape
# expect_line: 37 39
# expect_variables: cum_loss_model/encoder/kernel, cum_loss_model/encoder/bias, cum_loss_model/score/kernel, cum_loss_model/score/bias
# symptom_today: silent: every update holds the gradient of the last micro-batch only (and a quarter of it); the other three are never learned from
# exit: 0
# fix: keep the gradients of each micro-batch (accumulator variables), not the loss: a tape knows nothing of the batches before it
# source: tensorflow/tensorflow#55478 and tensorflow/addons#2686 ("Just cumsum the training loss?")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(7)


class CumLossModel(keras.Model):
    """Accumulation as in PyTorch, without a second copy of all the weights."""

    def __init__(self, n_gradients):
        super().__init__()
        self.n_gradients = n_gradients
        self.n_acum_step = 0
        self.total_loss = 0.0
        self.encoder = keras.layers.Dense(16, activation="tanh", name="encoder")
        self.score = keras.layers.Dense(1, name="score")

    def call(self, x):
        return self.score(self.encoder(x))

    def train_step(self, data):
        x, y = data
        self.n_acum_step += 1
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
            self.total_loss = self.total_loss + loss / self.n_gradients
        if self.n_acum_step == self.n_gradients:
            grads = tape.gradient(self.total_loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
            self.n_acum_step = 0
            self.total_loss = 0.0
        return {"loss": loss}


rng = np.random.default_rng(1)
x = rng.normal(size=(128, 6)).astype("float32")
y = (x[:, :1] - 0.5 * x[:, 1:2] * x[:, 2:3]).astype("float32")

model = CumLossModel(n_gradients=4)
model.compile(keras.optimizers.SGD(0.1), loss="mse", run_eagerly=True)
model(x[:1])
start = [w.numpy() for w in model.trainable_variables]


def gradient_of(rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x[rows]) - y[rows]))
    return [g.numpy() for g in tape.gradient(loss, model.trainable_variables)]


whole, last = gradient_of(slice(0, 32)), gradient_of(slice(24, 32))
model.fit(x[:32], y[:32], batch_size=8, epochs=1, shuffle=False, verbose=0)
moved = [w.numpy() - s for w, s in zip(model.trainable_variables, start)]
same = [np.allclose(m, -0.1 * g, atol=1e-5) for m, g in zip(moved, whole)]
print("update is that of the large batch:", same)
assert len(same) == 4 and not any(same)
assert all(np.allclose(m, -0.1 * g / 4, atol=1e-5) for m, g in zip(moved, last))
model.fit(x, y, batch_size=8, epochs=2, verbose=0)
