# case: twin_critics_polyak
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; targets are computed outside the tape and followed by Polyak averaging on purpose
# exit: 0
# fix: -
# source: own; TD3, look-alike of openai/spinningup PR#65
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
OBS, ACT, GAMMA, TAU = 3, 1, 0.9, 0.05


def mlp(inputs, outputs, last=None):
    return keras.Sequential([keras.layers.Input((inputs,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(outputs, activation=last)])


actor, actor_target = mlp(OBS, ACT, "tanh"), mlp(OBS, ACT, "tanh")
critics, critic_targets = [mlp(OBS + ACT, 1) for _ in range(2)], [mlp(OBS + ACT, 1) for _ in range(2)]
pairs = [(actor_target, actor), *zip(critic_targets, critics)]
for target, online in pairs:
    target.set_weights(online.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(5e-3)
critic_params = [v for c in critics for v in c.trainable_variables]


@tf.function
def update(s, a, r, s2):
    noise = tf.clip_by_value(tf.random.normal(tf.shape(a), stddev=0.2), -0.5, 0.5)
    a2 = tf.clip_by_value(actor_target(s2) + noise, -1.0, 1.0)
    goal = r + GAMMA * tf.minimum(*[t(tf.concat([s2, a2], 1)) for t in critic_targets])
    with tf.GradientTape() as tape:
        critic_loss = tf.add_n([tf.reduce_mean(tf.square(c(tf.concat([s, a], 1)) - goal)) for c in critics])
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic_params), critic_params))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critics[0](tf.concat([s, actor(s)], 1)))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    for target, online in pairs:
        for t, w in zip(target.trainable_variables, online.trainable_variables):
            t.assign(TAU * w + (1.0 - TAU) * t)
    return critic_loss


rng = np.random.default_rng(0)
s, a = rng.normal(size=(64, OBS)).astype("float32"), rng.uniform(-1, 1, size=(64, ACT)).astype("float32")
r, s2 = (s[:, :1] * a).astype("float32"), rng.normal(size=(64, OBS)).astype("float32")
losses = [float(update(s, a, r, s2)) for _ in range(40)]
assert losses[-1] < losses[0]
print("ok", losses[0], losses[-1])
