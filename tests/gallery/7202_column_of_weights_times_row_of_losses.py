# case: column_of_weights_times_row_of_losses
# verdict: bug; static: no
# cause: loss-shape-broadcast
# expect_line: 29
# expect_variables: - (the loss; every sample gets the mean weight)
# symptom_today: silent: the sample weights have no effect
# exit: 0
# fix: weights[:, 0] * per_sample
# source: gradientinstitute/aboleth#144 (training weights of the wrong shape raise the rank of the summand), google-deepmind/acme#277 (logp_action * coeff becomes (batch, batch)), tensorflow/tensorflow#28901
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class Weighted(keras.Model):
    def __init__(self):
        super().__init__()
        self.line = keras.layers.Dense(1)

    def call(self, x):
        return self.line(x)

    def train_step(self, data):
        x, y, weights = data
        with tf.GradientTape() as tape:
            per_sample = keras.losses.mean_squared_error(y, self(x, training=True))
            loss = tf.reduce_mean(weights * per_sample)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


rng = np.random.default_rng(0)
x = rng.normal(size=(60, 1)).astype("float32")
y = (2.0 * x).astype("float32")
trust = np.ones((60, 1), "float32")
y[::2] = -5.0 * x[::2]                               # half of the labels are wrong ...
trust[::2] = 0.0                                     # ... and known to be: weight zero
model = Weighted()
model.compile(keras.optimizers.SGD(0.1))
data = tf.data.Dataset.from_tensor_slices((x, y, trust)).batch(20)
model.fit(data, epochs=30, verbose=0)
slope = float(model.line.kernel.numpy()[0, 0])
print("slope", slope, "(2.0 if the bad labels were ignored)")
assert slope < 0.5
