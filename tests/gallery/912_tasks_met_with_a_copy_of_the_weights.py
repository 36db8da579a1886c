# case: tasks_met_with_a_copy_of_the_weights
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: first-order meta-learning by interpolating towards adapted weights
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])


def sine_task():
    phase, height = rng.uniform(0, np.pi), rng.uniform(0.5, 2.0)
    x = rng.uniform(-3, 3, size=(20, 1)).astype("float32")
    return x, (height * np.sin(x + phase)).astype("float32")


@tf.function
def inner_step(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(rate * g)
    return loss


def adapted_error(x, y, steps=4):
    saved = model.get_weights()
    for _ in range(steps):
        inner_step(x, y, tf.constant(0.05))
    error = float(np.mean((model(x).numpy() - y) ** 2))
    model.set_weights(saved)
    return error


held_out = [sine_task() for _ in range(5)]
before = np.mean([adapted_error(*task) for task in held_out])
for meta in range(20):
    slow = model.get_weights()
    x, y = sine_task()
    for _ in range(4):
        inner_step(x, y, tf.constant(0.05))
    fast = model.get_weights()
    model.set_weights([s + 0.5 * (f - s) for s, f in zip(slow, fast)])
after = np.mean([adapted_error(*task) for task in held_out])
print(before, after)
assert after < before
