# case: td3_twin_critics
# verdict: bug
# cause: aliased-network
# expect_line: 36
# expect_variables: -
# symptom_today: q1 and q2 agree to the last digit in every step, the minimum over the two critics does nothing
# exit: 0
# fix: critics = [make_critic() for _ in range(2)]
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
S, A, GAMMA, TAU, BATCH = 3, 1, 0.9, 0.02, 64

# transitions of a damped system that should be held near zero, behaviour policy is random
rng = np.random.default_rng(21)
state = rng.normal(size=(2000, S)).astype("float32")
action = rng.uniform(-1, 1, size=(2000, A)).astype("float32")
nxt = (0.8 * state + 0.3 * action + 0.05 * rng.normal(size=state.shape)).astype("float32")
reward = (-0.5 * np.mean(nxt ** 2, axis=1, keepdims=True)).astype("float32")


def make_actor():
    return keras.Sequential([keras.Input((S,)), layers.Dense(24, activation="tanh"),
                             layers.Dense(A, activation="tanh")])


def make_critic():
    return keras.Sequential([keras.Input((S + A,)), layers.Dense(32, activation="tanh"),
                             layers.Dense(32, activation="tanh"), layers.Dense(1)])


actor, target_actor = make_actor(), make_actor()
critics = [make_critic()] * 2                       # clipped double Q learning wants two of them
target_critics = [make_critic() for _ in critics]
target_actor.set_weights(actor.get_weights())
for t, c in zip(target_critics, critics):
    t.set_weights(c.get_weights())
critic_opts = [keras.optimizers.Adam(5e-3) for _ in critics]
actor_opt = keras.optimizers.Adam(1e-3)


def polyak(target, source):
    for t, s in zip(target.trainable_variables, source.trainable_variables):
        t.assign((1.0 - TAU) * t + TAU * s)


for step in range(40):
    i = rng.integers(0, len(state), BATCH)
    s, a, r, s2 = (tf.constant(d[i]) for d in (state, action, reward, nxt))
    noise = tf.clip_by_value(tf.random.normal((BATCH, A), stddev=0.1), -0.3, 0.3)
    a2 = tf.clip_by_value(target_actor(s2) + noise, -1.0, 1.0)
    q_next = tf.minimum(*[t(tf.concat([s2, a2], 1)) for t in target_critics])
    y = r + GAMMA * q_next

    losses = []
    for critic, opt in zip(critics, critic_opts):
        with tf.GradientTape() as tape:
            q = critic(tf.concat([s, a], 1), training=True)
            loss = tf.reduce_mean(tf.square(y - q))
        opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables),
                                critic.trainable_variables))
        losses.append(float(loss))

    if step % 2 == 1:                               # delayed policy update
        with tf.GradientTape() as tape:
            actor_loss = -tf.reduce_mean(critics[0](tf.concat([s, actor(s, training=True)], 1)))
        actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables),
                                      actor.trainable_variables))
        polyak(target_actor, actor)
        for t, c in zip(target_critics, critics):
            polyak(t, c)
    if step % 10 == 0 or step == 39:
        q1, q2 = (critic(tf.concat([s, a], 1)) for critic in critics)
        print(f"step {step}: critic losses {losses}, "
              f"|q1 - q2| = {float(tf.reduce_mean(tf.abs(q1 - q2)))}")
