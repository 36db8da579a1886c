# case: ode_solver_in_a_loop
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: neural ordinary differential equations
import keras
import tensorflow as tf

keras.utils.set_random_seed(6)


class Dynamics(tf.Module):
    def __init__(self, width):
        super().__init__()
        init = tf.random.Generator.from_seed(6)
        self.a = tf.Variable(init.normal((2, width), stddev=0.3), name="a")
        self.b = tf.Variable(init.normal((width, 2), stddev=0.3), name="b")

    def __call__(self, t, y):
        return tf.tanh(y @ self.a) @ self.b


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


field = Dynamics(8)
opt = keras.optimizers.Adam(0.02)


@tf.function
def step(start, goal):
    with tf.GradientTape() as tape:
        y = start
        for i in tf.range(8):
            y = rk4(field, y, tf.cast(i, tf.float32) * 0.1, 0.1)
        loss = tf.reduce_mean((y - goal) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, field.trainable_variables), field.trainable_variables))
    return loss


start = tf.random.normal((16, 2), seed=7)
losses = [float(step(start, tf.reverse(start, [1]))) for _ in range(10)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
