# case: heat_equation_pinn_train_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the loss falls a lot and the diffusivity comes close to its true value
# exit: 0
# fix: -
# source: written after public inverse PINN tutorials (Cornell SciML and chishiki-ai inverse heat conduction) and the question whether nested tapes in train_step are right (tensorflow issue 39344)
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
KAPPA_TRUE = 0.25


def exact(x, t):
    return np.exp(-KAPPA_TRUE * np.pi ** 2 * t) * np.sin(np.pi * x)


class HeatPINN(keras.Model):
    """u(x, t) and kappa in u_t = kappa * u_xx, from scattered sensors."""

    def __init__(self, width=20):
        super().__init__()
        self.net = keras.Sequential([
            keras.layers.Dense(width, activation="tanh"),
            keras.layers.Dense(width, activation="tanh"),
            keras.layers.Dense(1),
        ])
        self.raw_kappa = self.add_weight(shape=(), initializer=keras.initializers.Constant(0.0),
                                         name="raw_kappa")
        self.total = keras.metrics.Mean(name="loss")
        self.pde = keras.metrics.Mean(name="pde")

    @property
    def metrics(self):
        return [self.total, self.pde]

    @property
    def kappa(self):
        return tf.nn.softplus(self.raw_kappa)

    def call(self, xt):
        return self.net(2.0 * xt - 1.0)

    def residual(self, x, t):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([x, t])
                u = self(tf.concat([x, t], axis=1))
            u_x = inner.gradient(u, x)
        u_t = inner.gradient(u, t)
        del inner
        u_xx = outer.gradient(u_x, x)
        return u_t - self.kappa * u_xx

    def train_step(self, data):
        xt, u_obs = data
        x_col = tf.random.uniform([64, 1])
        t_col = tf.random.uniform([64, 1])
        with tf.GradientTape() as tape:
            misfit = tf.reduce_mean(tf.square(self(xt, training=True) - u_obs))
            physics = tf.reduce_mean(tf.square(self.residual(x_col, t_col)))
            loss = misfit + 0.1 * physics
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.total.update_state(loss)
        self.pde.update_state(physics)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(0)
sensors = rng.uniform(size=(512, 2)).astype("float32")
readings = exact(sensors[:, :1], sensors[:, 1:]).astype("float32")
readings += 0.005 * rng.normal(size=readings.shape).astype("float32")

pinn = HeatPINN()
pinn(sensors[:2])
start = [w.numpy().copy() for w in pinn.trainable_variables]
pinn.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 800)),
             steps_per_execution=20, jit_compile=False)
batches = (tf.data.Dataset.from_tensor_slices((sensors, readings))
           .shuffle(512, seed=1).repeat().batch(128))
first = float(np.mean((pinn(sensors).numpy() - readings) ** 2))
hist = pinn.fit(batches, steps_per_epoch=40, epochs=20, shuffle=False, verbose=0).history
last = float(np.mean((pinn(sensors).numpy() - readings) ** 2))
moved = [float(np.abs(a - b.numpy()).max()) for a, b in zip(start, pinn.trainable_variables)]
print("misfit", first, "->", last, " loss", hist["loss"][0], "->", hist["loss"][-1], " kappa", float(pinn.kappa))

assert len(pinn.trainable_variables) == 7
assert hist["loss"][-1] < 0.1 * hist["loss"][0] and last < 0.02 * first
assert min(moved) > 1e-3
assert abs(float(pinn.kappa) - KAPPA_TRUE) < 0.04
