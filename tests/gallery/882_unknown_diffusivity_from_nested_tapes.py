# case: unknown_diffusivity_from_nested_tapes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: inverse physics-informed problems with a learned coefficient
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)


class Inverse(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(12, activation="tanh") for _ in range(2)]
        self.out = keras.layers.Dense(1)
        self.k = self.add_weight(shape=(), initializer="ones", name="diffusivity")

    def call(self, xt):
        h = xt
        for layer in self.hidden:
            h = layer(h)
        return self.out(h)

    def residual(self, x, t):
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape(persistent=True) as first:
                first.watch([x, t])
                u = self(tf.concat([x, t], axis=1))
            u_x, u_t = first.gradient(u, x), first.gradient(u, t)
        u_xx = second.gradient(u_x, x)
        return u_t - self.k * u_xx


model = Inverse()
opt = keras.optimizers.Adam(5e-3)
rng = np.random.default_rng(4)
x, t = (tf.constant(rng.random((40, 1)), tf.float32) for _ in range(2))
u = tf.exp(-0.3 * np.pi**2 * t) * tf.sin(np.pi * x)


@tf.function
def step():
    with tf.GradientTape() as tape:
        data = tf.reduce_mean((model(tf.concat([x, t], axis=1)) - u) ** 2)
        physics = tf.reduce_mean(model.residual(x, t) ** 2)
        loss = data + 0.1 * physics
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


model(tf.zeros((1, 2)))
losses = [float(step()) for _ in range(30)]
print(losses[0], losses[-1], float(model.k.numpy()))
assert losses[-1] < losses[0] and float(model.k.numpy()) != 1.0
