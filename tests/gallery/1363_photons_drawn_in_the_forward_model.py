# case: photon_counts_drawn_in_the_forward_model
# verdict: bug
# cause: non-reparameterised-sample
# expect_line: 36 52
# expect_variables: emitter_xy, log_photons
# symptom_today: Keras warns that gradients do not exist for emitter_xy and log_photons; only the camera offset moves
# exit: 0
# fix: compare the expected rate (or use the Poisson log-likelihood of the measured counts) instead of drawn counts
"""Localise two fluorescent emitters from a camera frame with a simulated detector."""
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)

SIZE = 12
grid = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="xy"), axis=-1).astype(np.float32)


class Microscope(tf.Module):
    def __init__(self, xy, photons):
        super().__init__()
        self.xy = tf.Variable(xy, dtype=tf.float32, name="emitter_xy")
        self.log_photons = tf.Variable(np.log(photons), dtype=tf.float32, name="log_photons")
        self.offset = tf.Variable(0.0, name="camera_offset")
        self.sigma = 1.6

    def expected_photons(self):
        d2 = tf.reduce_sum((grid[None] - self.xy[:, None, None, :]) ** 2, axis=-1)
        psf = tf.exp(-d2 / (2 * self.sigma**2)) / (2 * np.pi * self.sigma**2)
        return tf.einsum("e,ehw->hw", tf.exp(self.log_photons), psf) + 0.5

    def detect(self, seed):
        # shot noise of the sensor, then the electronic baseline
        rate = self.expected_photons()
        photons = tf.random.stateless_poisson(rate.shape, seed=seed, lam=rate, dtype=tf.float32)
        return photons + self.offset


# the real sample
sample = Microscope([[3.4, 4.1], [8.2, 7.3]], [300.0, 220.0])
sample.offset.assign(2.0)
frame = tf.stop_gradient(sample.detect(seed=[99, 0]))

# the fit
scope = Microscope([[4.0, 5.0], [7.5, 6.5]], [250.0, 250.0])
variables = [scope.xy, scope.log_photons, scope.offset]
opt = keras.optimizers.Adam(0.03)

for it in range(120):
    with tf.GradientTape() as tape:
        simulated = scope.detect(seed=[7, it])
        loss = tf.reduce_mean(tf.square(simulated - frame)) / 10.0
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    if it % 20 == 0:
        print(it, "loss %.4f" % float(loss), "offset %.3f" % float(scope.offset))

print("emitters:", scope.xy.numpy().round(2).tolist(), "true:", sample.xy.numpy().round(2).tolist())
print("photons:", np.exp(scope.log_photons.numpy()).round(1))
