# case: sac_temperature
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: where alpha and the log-probability are stopped in SAC
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(18)
TARGET_ENTROPY = -1.0


class GaussianActor(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(24, activation="relu")
        self.mean = keras.layers.Dense(1)
        self.log_std = keras.layers.Dense(1)

    def call(self, obs):
        h = self.hidden(obs)
        mean, log_std = self.mean(h), tf.clip_by_value(self.log_std(h), -4.0, 1.0)
        noise = tf.random.normal(tf.shape(mean), seed=2)
        raw = mean + tf.exp(log_std) * noise
        action = tf.tanh(raw)
        logp = -0.5 * tf.square(noise) - log_std - 0.5 * np.log(2 * np.pi)
        logp -= tf.math.log(1.0 - tf.square(action) + 1e-6)
        return action, tf.reduce_sum(logp, axis=1)


actor = GaussianActor()
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
log_alpha = tf.Variable(0.0, name="log_alpha")
actor_opt, critic_opt, alpha_opt = (keras.optimizers.Adam(5e-3) for _ in range(3))
rng = np.random.default_rng(3)

for step in range(60):
    obs = rng.normal(size=(32, 3)).astype("float32")
    tried = rng.uniform(-1, 1, size=(32, 1)).astype("float32")
    reward = -np.square(tried[:, 0] - np.tanh(obs[:, 0]))
    with tf.GradientTape() as tape:
        q_loss = tf.reduce_mean(tf.square(critic(tf.concat([obs, tried], 1))[:, 0] - reward))
    critic_opt.apply_gradients(zip(tape.gradient(q_loss, critic.trainable_variables), critic.trainable_variables))

    with tf.GradientTape() as tape:
        action, logp = actor(obs)
        q = critic(tf.concat([obs, action], 1))[:, 0]
        actor_loss = tf.reduce_mean(tf.stop_gradient(tf.exp(log_alpha)) * logp - q)
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))

    with tf.GradientTape() as tape:
        alpha_loss = -tf.reduce_mean(log_alpha * tf.stop_gradient(logp + TARGET_ENTROPY))
    alpha_opt.apply_gradients([(tape.gradient(alpha_loss, log_alpha), log_alpha)])
    if step % 20 == 0:
        print(step, "q", float(q_loss), "actor", float(actor_loss), "alpha", float(tf.exp(log_alpha)))
