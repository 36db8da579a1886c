# case: reaction_rates_bounds_rebind_attribute
# verdict: bug
# cause: variable-rebound | variable-not-in-loss
# expect_line: 37 38 59 62
# expect_variables: k_forward, k_backward
# symptom_today: the first step trains both rates, then the gradients are None and the rates never change again; only the detector scale goes on.
# exit: 0
# fix: write the clipped value into the variable (self.kf.assign(...)) instead of replacing the attribute by a tensor.
# source: StackOverflow 62246104 (how to set bounds on a tf.Variable) together with the TensorFlow guide's case of a variable replaced by a tensor
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf


class ReversibleReaction:
    """A <-> B with forward and backward rate; B is seen through a detector."""

    def __init__(self):
        self.kf = tf.Variable(0.3, name="k_forward")
        self.kb = tf.Variable(0.6, name="k_backward")
        self.scale = tf.Variable(0.8, name="detector_scale")

    def simulate(self, a0, n_steps, dt=0.1):
        a = a0
        b = tf.zeros_like(a0)
        signal = []
        for _ in range(n_steps):
            flow = self.kf * a - self.kb * b
            a = a - dt * flow
            b = b + dt * flow
            signal.append(self.scale * b)
        return tf.stack(signal, axis=1)

    def keep_physical(self, lo=1e-3, hi=5.0):
        """Rates must be positive."""
        self.kf = tf.clip_by_value(self.kf, lo, hi)
        self.kb = tf.clip_by_value(self.kb, lo, hi)


def laboratory_run(rng):
    a0 = tf.constant([1.0, 0.7, 0.4])
    real = ReversibleReaction()
    real.kf.assign(0.9)
    real.kb.assign(0.25)
    real.scale.assign(1.0)
    clean = real.simulate(a0, 40).numpy()
    return a0, tf.constant(clean + rng.normal(0, 0.005, clean.shape), tf.float32)


def fit(model, a0, signal, epochs=60):
    variables = [model.kf, model.kb, model.scale]
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.03)
    curve = []
    for epoch in range(epochs):
        with tf.GradientTape() as tape:
            sim = model.simulate(a0, signal.shape[1])
            loss = tf.reduce_mean(tf.square(sim - signal))
        grads = tape.gradient(loss, variables)
        pairs = [(g, v) for g, v in zip(grads, variables) if g is not None]
        optimizer.apply_gradients(pairs)
        model.keep_physical()
        curve.append(loss.numpy())
    return variables, curve, grads


rng = np.random.default_rng(77)
a0, signal = laboratory_run(rng)
rxn = ReversibleReaction()
(kf, kb, scale), curve, grads = fit(rxn, a0, signal)
print("loss", curve[0], "->", curve[-1])
print("kf", kf.numpy(), "kb", kb.numpy(), "scale", scale.numpy(), "(true 0.9, 0.25, 1.0)")

assert grads[0] is None and grads[1] is None and grads[2] is not None
assert abs(kf.numpy() - 0.3) < 0.05 and abs(kb.numpy() - 0.6) < 0.05
assert not isinstance(rxn.kf, tf.Variable)
