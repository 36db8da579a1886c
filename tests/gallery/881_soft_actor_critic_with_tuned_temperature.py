# case: soft_actor_critic_with_tuned_temperature
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: maximum-entropy agents: two critics, slow targets, a learned temperature
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def q_network():
    s, a = keras.Input((3,)), keras.Input((1,))
    h = keras.layers.Dense(16, activation="relu")(keras.layers.Concatenate()([s, a]))
    return keras.Model([s, a], keras.layers.Dense(1)(h))


body = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
q1, q2 = q_network(), q_network()
t1, t2 = keras.models.clone_model(q1), keras.models.clone_model(q2)
t1.set_weights(q1.get_weights())
t2.set_weights(q2.get_weights())
log_alpha = tf.Variable(0.0, name="log_alpha")
actor_opt, q_opt, alpha_opt = (keras.optimizers.Adam(1e-2) for _ in range(3))


def sample(states):
    mean, log_std = tf.split(body(states), 2, axis=-1)
    std = tf.exp(tf.clip_by_value(log_std, -5.0, 2.0))
    raw = mean + std * tf.random.normal(tf.shape(mean))
    action = tf.tanh(raw)
    logp = -0.5 * ((raw - mean) / std) ** 2 - tf.math.log(std) - 0.5 * np.log(2 * np.pi)
    return action, logp - tf.math.log(1.0 - action**2 + 1e-6)


@tf.function
def update(s, a, r, s2):
    a2, logp2 = sample(s2)
    backup = r + 0.9 * (tf.minimum(t1([s2, a2]), t2([s2, a2])) - tf.exp(log_alpha) * logp2)
    q_vars = q1.trainable_variables + q2.trainable_variables
    with tf.GradientTape() as tape:
        q_loss = tf.reduce_mean((q1([s, a]) - backup) ** 2) + tf.reduce_mean((q2([s, a]) - backup) ** 2)
    q_opt.apply_gradients(zip(tape.gradient(q_loss, q_vars), q_vars))
    with tf.GradientTape() as tape:
        action, logp = sample(s)
        actor_loss = tf.reduce_mean(tf.exp(log_alpha) * logp - tf.minimum(q1([s, action]), q2([s, action])))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, body.trainable_variables), body.trainable_variables))
    with tf.GradientTape() as tape:
        alpha_loss = -tf.reduce_mean(tf.exp(log_alpha) * tf.stop_gradient(logp - 1.0))
    alpha_opt.apply_gradients([(tape.gradient(alpha_loss, log_alpha), log_alpha)])
    for slow, fast in zip(t1.variables + t2.variables, q1.variables + q2.variables):
        slow.assign(0.95 * slow + 0.05 * fast)
    return q_loss


rng = np.random.default_rng(0)
s, s2 = rng.normal(size=(2, 64, 3)).astype("float32")
a = rng.uniform(-1, 1, size=(64, 1)).astype("float32")
losses = [float(update(s, a, -((a - s[:, :1]) ** 2), s2)) for _ in range(15)]
print(losses[0], losses[-1], float(log_alpha))
assert losses[-1] < losses[0] and float(log_alpha) != 0.0
