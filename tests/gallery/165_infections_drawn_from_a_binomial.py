# case: infections_drawn_from_a_binomial
# verdict: bug; static: no
# cause: non-reparameterised-sample
# expect_line: 26 27
# expect_variables: contact_rate
# symptom_today: the gradient of contact_rate is None (recovery_rate too); the update raises TypeError
# exit: 1 (TypeError)
# fix: a Gaussian approximation of the draw, or a score-function estimate
# seen: fitting a stochastic epidemic by gradient descent
import tensorflow as tf


class Epidemic(tf.Module):
    def __init__(self, population=1000.0):
        super().__init__()
        self.population = population
        self.contact = tf.Variable(0.4, name="contact_rate")
        self.recovery = tf.Variable(0.1, name="recovery_rate")

    def simulate(self, days, seed):
        susceptible, infected = tf.constant(self.population - 20.0), tf.constant(20.0)
        curve = []
        for day in range(days):
            p_inf = 1.0 - tf.exp(-self.contact * infected / self.population)
            p_rec = 1.0 - tf.exp(-self.recovery)
            new = tf.random.stateless_binomial((), (seed, day), susceptible, p_inf, output_dtype=tf.float32)
            gone = tf.random.stateless_binomial((), (seed, day + 99), infected, p_rec, output_dtype=tf.float32)
            susceptible, infected = susceptible - new, infected + new - gone
            curve.append(infected)
        return tf.stack(curve)


def fit(model, observed, rate=1e-7, steps=2):
    for seed in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model.simulate(len(observed), seed) - observed) ** 2)
        for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
            v.assign_sub(rate * g)


fit(Epidemic(), tf.constant([24.0, 31.0, 40.0, 52.0, 66.0]))
