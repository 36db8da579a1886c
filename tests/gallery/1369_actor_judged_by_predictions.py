# case: actor_judged_by_predictions
# verdict: bug
# cause: numpy-escape
# expect_line: 56
# expect_variables: actor_h/kernel, actor_h/bias, actor_out/kernel, actor_out/bias
# symptom_today: the critic learns and the actor trains, but it only ever copies the behaviour policy; no error, no None
# exit: 0
# fix: call the critic as a layer, `q = self.critic([obs, pi])`, so that its value stays in the graph
"""Offline RL: a deterministic actor pulled between a critic and the logged behaviour."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def logged_data(n=1024, seed=0):
    rng = np.random.default_rng(seed)
    obs = rng.uniform(-1, 1, (n, 3)).astype("float32")
    act = np.clip(-0.4 + 0.25 * rng.normal(size=(n, 1)), -1, 1).astype("float32")
    best = 0.6 * np.tanh(obs[:, :1] + obs[:, 1:2])
    rew = (1.0 - 4.0 * (act - best) ** 2)[:, 0].astype("float32")
    return obs, act, rew, best.astype("float32")


def actor_net():
    x = keras.Input((3,))
    h = layers.Dense(32, activation="tanh", name="actor_h")(x)
    return keras.Model(x, layers.Dense(1, activation="tanh", name="actor_out")(h), name="actor")


def critic_net(tag):
    x, a = keras.Input((3,)), keras.Input((1,))
    h = layers.Concatenate()([x, a])
    h = layers.Dense(48, activation="swish", name=f"{tag}_h1")(h)
    h = layers.Dense(48, activation="swish", name=f"{tag}_h2")(h)
    return keras.Model([x, a], layers.Dense(1, name=f"{tag}_out")(h), name=tag)


class TD3BC:
    def __init__(self, alpha=2.5, lr=4e-3):
        self.actor, self.critic = actor_net(), critic_net("critic")
        self.alpha = alpha
        self.actor_opt, self.critic_opt = keras.optimizers.Adam(lr), keras.optimizers.Adam(lr)
        self.fit_critic = tf.function(self._fit_critic)

    def _fit_critic(self, obs, act, rew):
        with tf.GradientTape() as tape:
            q = tf.squeeze(self.critic([obs, act]), -1)
            loss = tf.reduce_mean(tf.square(q - rew))
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return loss

    def actor_objective(self, obs, act):
        pi = self.actor(obs)
        q = self.critic.predict_on_batch([obs, pi])
        scale = self.alpha / (np.mean(np.abs(q)) + 1e-3)
        keep_close = tf.reduce_mean(tf.square(pi - act))
        return keep_close - scale * tf.reduce_mean(q)

    def fit_actor(self, obs, act):
        with tf.GradientTape() as tape:
            loss = self.actor_objective(obs, act)
        grads = tape.gradient(loss, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return loss


def main():
    keras.utils.set_random_seed(2)
    obs, act, rew, best = logged_data()
    agent = TD3BC()
    ds = tf.data.Dataset.from_tensor_slices((obs, act, rew)).shuffle(1024, seed=0).batch(128).repeat(30)
    for i, (o, a, r) in enumerate(ds):
        q_loss = agent.fit_critic(o, a, r)
        if i > 120 and i % 2 == 0:
            agent.fit_actor(o, a)
    pi = agent.actor(obs).numpy()
    to_behaviour = float(np.abs(pi - act.mean()).mean())
    to_best = float(np.abs(pi - best).mean())
    print(f"critic loss {float(q_loss):.3f}; distance to behaviour {to_behaviour:.3f}, to the best action {to_best:.3f}")
    assert to_behaviour < 0.1 < to_best

    with tf.GradientTape() as tape:
        full = agent.actor_objective(obs, act)
    g_full = tape.gradient(full, agent.actor.trainable_variables)
    with tf.GradientTape() as tape:
        only_copy = tf.reduce_mean(tf.square(agent.actor(obs) - act))
    g_copy = tape.gradient(only_copy, agent.actor.trainable_variables)
    assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(g_full, g_copy))


if __name__ == "__main__":
    main()
