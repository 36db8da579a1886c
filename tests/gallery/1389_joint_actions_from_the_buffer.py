# case: maddpg_actor_loss_on_replayed_actions
# verdict: bug
# cause: variable-not-in-loss
# expect_line: 58 59 60 62
# expect_variables: actor_0/hidden/kernel, actor_0/hidden/bias, actor_0/action/kernel, actor_0/action/bias, actor_1/hidden/kernel, actor_1/hidden/bias, actor_1/action/kernel, actor_1/action/bias
# symptom_today: the critic is fitted well, but every gradient of the actors is None and their weights never move
# exit: 0
# fix: put the agent's own fresh action, actor(obs), into the joint action before asking the critic
# source: GitHub KornbergFresnel/ModelRepo issue 2 and openai/maddpg issue 16: the actor's loss took actions from the replay buffer rather than from the policy network
import os; os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras.layers import Dense, Input

keras.utils.set_random_seed(9)
AGENTS, OBS, ACT = 2, 3, 1


def actor_net(i):
    return keras.Sequential([Input((OBS,)),
                             Dense(32, activation="relu", name="hidden"),
                             Dense(ACT, activation="tanh", name="action")], name=f"actor_{i}")


def critic_net():
    return keras.Sequential([Input((AGENTS * (OBS + ACT),)),
                             Dense(64, activation="relu", name="c1"),
                             Dense(64, activation="relu", name="c2"),
                             Dense(1, name="q")], name="critic")


class Team:
    def __init__(self):
        self.actors = [actor_net(i) for i in range(AGENTS)]
        self.critic = critic_net()
        self.actor_opts = [keras.optimizers.Adam(2e-3) for _ in range(AGENTS)]
        self.critic_opt = keras.optimizers.Adam(3e-3)

    def act(self, obs, rng, noise=0.6):
        raw = np.stack([self.actors[i](obs[:, i]).numpy() for i in range(AGENTS)], axis=1)
        return np.clip(raw + noise * rng.normal(size=raw.shape), -1, 1).astype("float32")

    def q(self, obs, acts):
        flat = tf.concat([tf.reshape(obs, [-1, AGENTS * OBS]),
                          tf.reshape(acts, [-1, AGENTS * ACT])], axis=1)
        return tf.squeeze(self.critic(flat), -1)

    def fit_critic(self, obs, acts, rew):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(rew - self.q(obs, acts)))
        w = self.critic.trainable_variables
        self.critic_opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return float(loss)

    def fit_actor(self, i, obs, acts):
        with tf.GradientTape() as tape:
            joint = [acts[:, k] for k in range(AGENTS)]
            value = self.q(obs, tf.stack(joint, axis=1))
            loss = -tf.reduce_mean(value)
        w = self.actors[i].trainable_variables
        grads = tape.gradient(loss, w)
        pairs = [(g, v) for g, v in zip(grads, w) if g is not None]
        if pairs:
            self.actor_opts[i].apply_gradients(pairs)
        return grads


def reward(obs, acts):
    # robot 0 shall follow its first sensor, robot 1 the negative of its second
    want = np.stack([np.tanh(obs[:, 0, 0]), -np.tanh(obs[:, 1, 1])], axis=1)
    return (-np.sum((acts[..., 0] - want) ** 2, axis=1)).astype("float32")


def main():
    rng = np.random.default_rng(4)
    team = Team()
    start = [w.numpy().copy() for a in team.actors for w in a.trainable_variables]
    obs = rng.normal(size=(1024, AGENTS, OBS)).astype("float32")
    acts = team.act(obs, rng)
    rew = reward(obs, acts)
    critic_log, grads = [], None
    for it in range(120):
        p = rng.integers(0, 1024, 64)
        o, a, r = tf.constant(obs[p]), tf.constant(acts[p]), tf.constant(rew[p])
        critic_log.append(team.fit_critic(o, a, r))
        for i in range(AGENTS):
            grads = team.fit_actor(i, o, a)
        if it % 40 == 0:
            print(it, "critic loss", round(critic_log[-1], 4))
    print("mean team reward", float(reward(obs, team.act(obs, rng, noise=0.0)).mean()))
    assert critic_log[-1] < 0.5 * critic_log[0]
    assert all(g is None for g in grads)
    now = [w.numpy() for a in team.actors for w in a.trainable_variables]
    assert all(np.array_equal(s, n) for s, n in zip(start, now))


main()
