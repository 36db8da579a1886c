# case: coupling_flow_with_fixed_permutations
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: normalising flows with log-determinants
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class Coupling(tf.Module):
    def __init__(self, width, flip):
        super().__init__()
        self.flip = flip
        self.net = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(width, activation="relu"),
                                     keras.layers.Dense(2, kernel_initializer="zeros")])

    def __call__(self, x):
        a, b = tf.split(x[:, ::-1] if self.flip else x, 2, axis=1)
        shift, log_scale = tf.split(self.net(a), 2, axis=1)
        log_scale = tf.tanh(log_scale)
        b = (b - shift) * tf.exp(-log_scale)
        return tf.concat([a, b], axis=1), -log_scale[:, 0]


flow = [Coupling(16, flip=bool(i % 2)) for i in range(4)]
variables = [v for layer in flow for v in layer.net.trainable_variables]
opt = keras.optimizers.Adam(0.01)


@tf.function
def nll_step(x):
    with tf.GradientTape() as tape:
        z, log_det = x, tf.zeros(tf.shape(x)[0])
        for layer in flow:
            z, part = layer(z)
            log_det += part
        log_prior = -0.5 * tf.reduce_sum(z**2, axis=1) - np.log(2 * np.pi)
        loss = -tf.reduce_mean(log_prior + log_det)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


rng = np.random.default_rng(5)
a = rng.normal(size=(200, 1))
x = tf.constant(np.hstack([a, a**2 + 0.1 * rng.normal(size=(200, 1))]), tf.float32)
losses = [float(nll_step(x)) for _ in range(25)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
