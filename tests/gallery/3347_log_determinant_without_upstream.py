# case: squash_logdet_gradient_without_upstream
# verdict: bug
# cause: wrong-custom-gradient
# expect_line: 23 25 59
# expect_variables: -
# symptom_today: the actor's loss rises instead of falling and the actions run to -1 and 1
# exit: 0
# fix: return upstream * (-2.0 * tf.tanh(u))
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)
STATE, ACTION = 5, 2
ALPHA = 0.1             # entropy bonus


@tf.custom_gradient
def squash_logdet(u):
    """log(1 - tanh(u)^2), which is -inf for |u| > 9 if written like that."""

    def grad(upstream):
        # d/du log(1 - tanh^2) = -2 tanh
        return -2.0 * tf.tanh(u)

    return 2.0 * (np.log(2.0) - u - tf.nn.softplus(-2.0 * u)), grad


def make_actor():
    s = keras.Input((STATE,))
    h = layers.Dense(32, activation="tanh", name="a_hidden")(s)
    mean = layers.Dense(ACTION, name="a_mean")(h)
    log_std = layers.Dense(ACTION, name="a_log_std")(h)
    return keras.Model(s, [mean, log_std], name="actor")


rng = np.random.default_rng(2)
best = rng.normal(size=(STATE, ACTION)).astype("float32") * 0.25


def q_value(s, a):
    # stands for a trained critic
    return -4.0 * tf.reduce_sum((a - tf.tanh(s @ best)) ** 2, axis=-1)


actor = make_actor()
optimizer = keras.optimizers.Adam(3e-3)
optimizer.build(actor.trainable_variables)


@tf.function
def actor_step(s):
    eps = tf.random.normal((tf.shape(s)[0], ACTION))
    with tf.GradientTape() as tape:
        mean, log_std = actor(s, training=True)
        u = mean + tf.exp(log_std) * eps
        logp = -0.5 * eps ** 2 - log_std - 0.5 * np.log(2 * np.pi)
        logp = tf.reduce_sum(logp - squash_logdet(u), axis=-1)
        loss = tf.reduce_mean(ALPHA * logp - q_value(s, tf.tanh(u)))
    grads = tape.gradient(loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(grads, actor.trainable_variables))
    return loss, tf.reduce_mean(tf.abs(tf.tanh(u)))


for it in range(150):
    states = tf.constant(rng.normal(size=(64, STATE)), tf.float32)
    loss, size = actor_step(states)
    if it % 25 == 0:
        print(f"{it:4d} loss {float(loss):.4f}  mean |action| {float(size):.3f}")
