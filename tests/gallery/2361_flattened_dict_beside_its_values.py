# case: variational_auto_decoder_codes
# verdict: bug
# cause: misrouted-gradient
# expect_line: 80
# expect_variables: mu, log_sigma
# symptom_today: the loss hardly falls: the curves of the items are not told apart, although every variable moves
# exit: 0
# fix: flatten both sides the same way: zip(tf.nest.flatten(grads), tf.nest.flatten(codes.params))
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(2)
HP = {"items": 96, "code": 3, "points": 20, "hidden": 32, "steps": 200, "lr_codes": 2e-2, "lr_decoder": 5e-3, "kl": 2e-3}


def make_curves(n, points, seed=4):
    """Each item is one curve, made of three shapes with its own weights."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, points)
    basis = np.stack([np.sin(2 * np.pi * t), np.cos(3 * np.pi * t), 2 * t - 1])
    curves = rng.normal(size=(n, 3)) @ basis * 0.7 + 0.05 * rng.normal(size=(n, points))
    return tf.constant(curves, tf.float32)


class GaussianCodes(tf.Module):
    """One factorised Gaussian per item instead of an encoder."""

    def __init__(self, n, dim):
        super().__init__(name="codes")
        self.params = {
            "mu": tf.Variable(tf.random.normal((n, dim), stddev=0.1, seed=1), name="mu"),
            "log_sigma": tf.Variable(tf.fill((n, dim), -1.5), name="log_sigma"),
        }

    def sample(self):
        mu, log_sigma = self.params["mu"], self.params["log_sigma"]
        return mu + tf.exp(log_sigma) * tf.random.normal(mu.shape)

    def kl(self):
        mu, log_sigma = self.params["mu"], self.params["log_sigma"]
        per_item = 0.5 * tf.reduce_sum(mu ** 2 + tf.exp(2 * log_sigma) - 2 * log_sigma - 1.0, axis=1)
        return tf.reduce_mean(per_item)


def make_decoder(hp):
    return keras.Sequential(
        [
            keras.Input((hp["code"],)),
            keras.layers.Dense(hp["hidden"], activation="tanh", name="dec_hidden"),
            keras.layers.Dense(hp["points"], name="dec_out"),
        ],
        name="decoder",
    )


def elbo_terms(decoder, codes, curves):
    fitted = decoder(codes.sample(), training=True)
    return tf.reduce_mean((fitted - curves) ** 2), codes.kl()


class Trainer:
    def __init__(self, hp):
        self.hp = hp
        self.codes = GaussianCodes(hp["items"], hp["code"])
        self.decoder = make_decoder(hp)
        self.opt_codes = keras.optimizers.Adam(hp["lr_codes"])
        self.opt_decoder = keras.optimizers.Adam(hp["lr_decoder"])

    @tf.function
    def step(self, curves):
        with tf.GradientTape() as tape:
            recon, kl = elbo_terms(self.decoder, self.codes, curves)
            loss = recon + self.hp["kl"] * kl
        weights = self.decoder.trainable_variables
        g_weights, g_codes = tape.gradient(loss, [weights, self.codes.params])
        self.opt_decoder.apply_gradients(zip(g_weights, weights))
        self.opt_codes.apply_gradients(zip(tf.nest.flatten(g_codes), self.codes.params.values()))
        return recon, kl

    def fit(self, curves):
        log = []
        for i in range(self.hp["steps"]):
            recon, kl = self.step(curves)
            log.append((float(recon), float(kl)))
            if i % 40 == 0 or i == self.hp["steps"] - 1:
                print("step %3d  mse %.4f  kl %.2f" % (i, *log[-1]))
        return log


curves = make_curves(HP["items"], HP["points"])
trainer = Trainer(HP)
log = trainer.fit(curves)
# who was given whose gradient
names = {k: k for k in trainer.codes.params}
pairs = list(zip(tf.nest.flatten(names), names.values()))
print("gradient of -> variable:", pairs)
assert pairs == [("log_sigma", "mu"), ("mu", "log_sigma")]

right = Trainer(HP)
for _ in range(HP["steps"]):
    with tf.GradientTape() as tape:
        recon, kl = elbo_terms(right.decoder, right.codes, curves)
        loss = recon + HP["kl"] * kl
    pair = [right.codes.params["mu"], right.codes.params["log_sigma"]]
    grads = tape.gradient(loss, pair + right.decoder.trainable_variables)
    right.opt_codes.apply_gradients(zip(grads[:2], pair))
    right.opt_decoder.apply_gradients(zip(grads[2:], right.decoder.trainable_variables))
print("mse with every gradient at its own variable: %.4f" % float(recon))
assert np.mean([r for r, _ in log[-10:]]) > 2.0 * float(recon)
