# case: twin_critics_copy_paste
# verdict: bug
# cause: misrouted-gradient
# expect_line: 79
# expect_variables: two_hidden/*, two_q/*
# symptom_today: loss of the second critic does not fall with the first one, it even grows; no warning at all
# exit: 0
# fix: opt_two.apply_gradients(zip(grads_two, critic_two.trainable_variables))
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(21)

# TD3 style critic update (clipped double Q) from a fixed replay memory.
OBS, ACT = 3, 2
GAMMA, TAU = 0.9, 0.02
BATCH = 64


def make_critic(prefix):
    return keras.Sequential(
        [
            keras.Input((OBS + ACT,)),
            keras.layers.Dense(32, activation="tanh", name=prefix + "_hidden"),
            keras.layers.Dense(1, name=prefix + "_q"),
        ],
        name="critic_" + prefix,
    )


def make_replay(n):
    rng = np.random.default_rng(21)
    s = rng.normal(size=(n, OBS)).astype("float32")
    a = rng.uniform(-1, 1, size=(n, ACT)).astype("float32")
    r = np.sin(s[:, :1]) + 0.5 * a[:, :1] - 0.3 * a[:, 1:] ** 2
    s2 = (0.8 * s + 0.2 * rng.normal(size=(n, OBS))).astype("float32")
    done = (rng.uniform(size=(n, 1)) < 0.1).astype("float32")
    return s, a, r.astype("float32"), s2, done


critic_one, critic_two = make_critic("one"), make_critic("two")
target_one, target_two = make_critic("t_one"), make_critic("t_two")
target_one.set_weights(critic_one.get_weights())
target_two.set_weights(critic_two.get_weights())

opt_one = keras.optimizers.Adam(5e-3)
opt_two = keras.optimizers.Adam(5e-3)
behaviour = tf.constant(np.random.default_rng(3).normal(0, 0.5, (OBS, ACT)), tf.float32)


def target_action(s):
    """Policy with smoothing noise (the actor is trained elsewhere)."""
    a = tf.tanh(tf.matmul(s, behaviour))
    noise = tf.clip_by_value(tf.random.normal(tf.shape(a), stddev=0.1), -0.2, 0.2)
    return tf.clip_by_value(a + noise, -1.0, 1.0)


def soft_update(target, source):
    for t, v in zip(target.trainable_variables, source.trainable_variables):
        t.assign(TAU * v + (1.0 - TAU) * t)


@tf.function
def update(s, a, r, s2, done):
    next_in = tf.concat([s2, target_action(s2)], axis=1)
    q_next = tf.minimum(target_one(next_in), target_two(next_in))
    y = r + GAMMA * (1.0 - done) * q_next

    sa = tf.concat([s, a], axis=1)
    with tf.GradientTape() as tape_one:
        loss_one = tf.reduce_mean(tf.square(y - critic_one(sa)))
    with tf.GradientTape() as tape_two:
        loss_two = tf.reduce_mean(tf.square(y - critic_two(sa)))

    grads_one = tape_one.gradient(loss_one, critic_one.trainable_variables)
    grads_two = tape_two.gradient(loss_two, critic_two.trainable_variables)
    opt_one.apply_gradients(zip(grads_one, critic_one.trainable_variables))
    opt_two.apply_gradients(zip(grads_one, critic_two.trainable_variables))

    soft_update(target_one, critic_one)
    soft_update(target_two, critic_two)
    return loss_one, loss_two


replay = make_replay(1024)
picker = np.random.default_rng(5)
for step in range(120):
    rows = picker.integers(0, 1024, size=BATCH)
    l1, l2 = update(*[tf.constant(part[rows]) for part in replay])
    if step % 20 == 0 or step == 119:
        print(f"step {step:3d}  critic 1 loss {float(l1):.4f}  critic 2 loss {float(l2):.4f}")
