# case: poisson_event_generator
# verdict: bug; static: yes
# cause: non-reparameterised-sample | no-registered-gradient
# expect_line: 21
# expect_variables: rate_net/*
# symptom_today: raises LookupError: gradient registry has no entry for: RandomPoissonV2
# exit: 1 (LookupError)
# fix: a score-function estimator, or compare expectations instead of draws
# seen: simulators of event counts trained end to end
import keras
import tensorflow as tf

rate_net = keras.Sequential(
    [keras.layers.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="softplus")],
    name="rate_net",
)


def simulate(conditions, draws=16):
    rate = rate_net(conditions, training=True)
    events = tf.random.poisson(shape=[draws], lam=rate, seed=1)
    return tf.reduce_mean(events, axis=0)


@tf.function
def fit_step(conditions, observed, optimizer):
    with tf.GradientTape() as tape:
        mismatch = simulate(conditions) - observed
        loss = tf.reduce_mean(mismatch**2)
    gradients = tape.gradient(loss, rate_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, rate_net.trainable_variables))


fit_step(
    conditions=tf.random.normal((12, 3), seed=2),
    observed=tf.random.uniform((12, 1), 0.0, 5.0, seed=3),
    optimizer=keras.optimizers.Adam(),
)
