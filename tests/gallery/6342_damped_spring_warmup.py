# case: damped_spring_warmup
# verdict: bug
# cause: python-state-in-graph
# expect_line: 60 66
# expect_variables: - (a Python number)
# symptom_today: the data loss falls, the printed physics weight rises to 1, but the damping coefficient stays exactly at its start value
# exit: 0
# fix: hold the weight in a non-trainable tf.Variable (assign it each epoch) or pass it to the step as a tensor
# source: style of the tf.function guide on Python state (https://www.tensorflow.org/guide/function), inverse PINN
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
MASS, STIFFNESS, TRUE_DAMPING = 1.0, 4.0, 0.6


def displacement(t):
    omega = np.sqrt(STIFFNESS - TRUE_DAMPING**2 / 4)
    return np.exp(-TRUE_DAMPING * t / 2) * np.cos(omega * t)


class SpringIdentifier:
    """Fits u(t) to measurements and finds the damping c of m u'' + c u' + k u = 0."""

    def __init__(self):
        self.net = tf.keras.Sequential([
            tf.keras.Input((1,)),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(1),
        ])
        self.damping = tf.Variable(0.1, name="damping")
        self.optimizer = tf.keras.optimizers.Adam(5e-3)
        self.physics_weight = 0.0

    @property
    def weights(self):
        return self.net.trainable_weights + [self.damping]

    def motion(self, t):
        with tf.GradientTape() as second:
            second.watch(t)
            with tf.GradientTape() as first:
                first.watch(t)
                u = self.net(t, training=True)
            velocity = first.gradient(u, t)
        acceleration = second.gradient(velocity, t)
        return u, velocity, acceleration

    def physics_loss(self, t):
        u, velocity, acceleration = self.motion(t)
        force = MASS * acceleration + self.damping * velocity + STIFFNESS * u
        return tf.reduce_mean(tf.square(force))

    @tf.function
    def train_step(self, t_data, u_data, t_free):
        with tf.GradientTape() as tape:
            data = tf.reduce_mean(tf.square(self.net(t_data, training=True) - u_data))
            physics = self.physics_loss(t_free)
            loss = data + self.physics_weight * physics
        grads = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(grads, self.weights))
        return data, physics

    def set_epoch(self, epoch, warmup=200):
        self.physics_weight = 0.1 * min(1.0, epoch / warmup)


t_data = np.linspace(0, 3, 40, dtype="float32")[:, None]
u_data = displacement(t_data).astype("float32")
t_free = np.linspace(0, 3, 80, dtype="float32")[:, None]
batch = [tf.constant(a) for a in (t_data, u_data, t_free)]

spring = SpringIdentifier()
for epoch in range(500):
    spring.set_epoch(epoch)
    data, physics = spring.train_step(*batch)
    if epoch % 100 == 99:
        print(
            f"epoch {epoch + 1:4d}  data {float(data):.5f}  physics {float(physics):.3f}  "
            f"weight {spring.physics_weight:.3f}  damping {float(spring.damping):.4f}"
        )
print("true damping", TRUE_DAMPING)
