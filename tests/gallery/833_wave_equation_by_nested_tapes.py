# case: wave_equation_by_nested_tapes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: physics-informed networks with second derivatives
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
u = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)


def residual(x, t, speed=1.0):
    with tf.GradientTape(persistent=True) as second:
        second.watch([x, t])
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            value = u(tf.concat([x, t], axis=1))
        u_x = first.gradient(value, x)
        u_t = first.gradient(value, t)
        del first
    u_xx = second.gradient(u_x, x)
    u_tt = second.gradient(u_t, t)
    del second
    return u_tt - speed**2 * u_xx


@tf.function
def step(x, t):
    with tf.GradientTape() as tape:
        physics = tf.reduce_mean(residual(x, t) ** 2)
        start = tf.reduce_mean((u(tf.concat([x, tf.zeros_like(t)], 1)) - tf.sin(x)) ** 2)
        loss = physics + start
    grads = tape.gradient(loss, u.trainable_variables)
    opt.apply_gradients(zip(grads, u.trainable_variables))
    return loss


x, t = tf.random.uniform((30, 1), seed=1), tf.random.uniform((30, 1), seed=2)
losses = [float(step(x, t)) for _ in range(15)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
