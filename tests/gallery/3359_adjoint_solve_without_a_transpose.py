# case: adjoint_solve_without_a_transpose
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 29 30 31 23 24 27
# expect_variables: source, log_decay
# symptom_today: no error, the misfit wanders and ends higher than it began, the first stack hardly moves
# exit: 0
# fix: solve with the transposed matrix in the backward pass, tf.linalg.solve(A, upstream, adjoint=True)
import numpy as np
import tensorflow as tf

N_CELLS = 24
DX = 1.0 / N_CELLS


def grid_matrices():
    eye = np.eye(N_CELLS)
    diffusion = (2.0 * eye - np.eye(N_CELLS, k=1) - np.eye(N_CELLS, k=-1)) / DX ** 2
    upwind = (eye - np.eye(N_CELLS, k=-1)) / DX
    return tf.constant(diffusion), tf.constant(upwind)


@tf.custom_gradient
def steady_state(A, rhs):
    """Solution of A u = rhs, with one extra solve for the backward pass."""
    u = tf.linalg.solve(A, rhs)

    def backward(upstream):
        lam = tf.linalg.solve(A, upstream)
        grad_matrix = -tf.matmul(lam, u, transpose_b=True)
        return grad_matrix, lam

    return u, backward


class PlumeModel(tf.Module):
    """Steady plume in a channel: wind, diffusion and decay, a few stacks with unknown output."""

    def __init__(self, decay, stacks=(0.15, 0.45, 0.75), wind=4.0, diffusivity=0.02, name="plume"):
        super().__init__(name=name)
        diffusion, upwind = grid_matrices()
        self.transport = diffusivity * diffusion + wind * upwind
        self.log_decay = tf.Variable(np.log(decay), dtype=tf.float64, name="log_decay")
        self.source = tf.Variable(np.full((len(stacks), 1), 5.0), dtype=tf.float64, name="source")
        x = (np.arange(N_CELLS) + 0.5) * DX
        self.modes = tf.constant(np.stack([np.exp(-((x - c) / 0.04) ** 2) for c in stacks], axis=1))

    def operator(self):
        return self.transport + tf.exp(self.log_decay) * tf.eye(N_CELLS, dtype=tf.float64)

    def __call__(self):
        return steady_state(self.operator(), tf.matmul(self.modes, self.source))


class Inversion:
    def __init__(self, model, sensors, readings, lr=1.0):
        self.model = model
        self.sensors = sensors
        self.readings = readings
        self.power = tf.reduce_mean(tf.square(readings))
        self.optimizer = tf.keras.optimizers.SGD(lr, momentum=0.9)

    def misfit(self):
        u = self.model()
        predicted = tf.gather(u, self.sensors)
        return tf.reduce_mean(tf.square(predicted - self.readings)) / self.power

    @tf.function
    def step(self):
        with tf.GradientTape() as tape:
            loss = self.misfit()
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss

    def run(self, steps):
        history = [float(self.step()) for _ in range(steps)]
        return np.array(history)


def central_difference(inversion, variable, row, h=1e-5):
    start = variable.numpy()
    shift = np.zeros_like(start)
    shift[row] = h
    variable.assign(start + shift)
    up = float(inversion.misfit())
    variable.assign(start - shift)
    down = float(inversion.misfit())
    variable.assign(start)
    return (up - down) / (2 * h)


truth = PlumeModel(decay=1.0)
truth.source.assign([[12.0], [2.0], [8.0]])
sensors = tf.constant([6, 7, 13, 14, 21, 22])
readings = tf.gather(truth(), sensors)

inversion = Inversion(PlumeModel(decay=0.7), sensors, readings)
with tf.GradientTape() as tape:
    loss0 = inversion.misfit()
by_tape = tape.gradient(loss0, inversion.model.source).numpy()
by_hand = central_difference(inversion, inversion.model.source, row=0)
history = inversion.run(400)
print("d misfit / d first stack", by_tape[0, 0], "finite difference", by_hand)
print("misfit", history[0], "->", history[-1])
print("sources", inversion.model.source.numpy().ravel(), "decay", np.exp(inversion.model.log_decay.numpy()))
assert abs(by_tape[0, 0] - by_hand) > 0.5 * abs(by_hand)
assert not history[-1] < 1e-3 * history[0]
