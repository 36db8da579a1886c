# case: search_over_widths
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a factory that makes a new model and optimizer for each trial
import keras
import tensorflow as tf


def make(width):
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(1)])


def train(width, rate, steps=6):
    keras.utils.set_random_seed(0)
    net, opt = make(width), keras.optimizers.Adam(rate)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss

    return [float(step(x, y)) for _ in range(steps)]


x = tf.random.normal((40, 4), seed=1)
y = tf.reduce_sum(x, 1, keepdims=True)
results = {(w, r): train(w, r) for w in (4, 16) for r in (1e-3, 1e-2)}
best = min(results, key=lambda k: results[k][-1])
print(best, results[best][-1])
assert all(v[-1] < v[0] for v in results.values())
