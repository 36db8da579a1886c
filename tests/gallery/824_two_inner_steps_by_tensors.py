# case: two_inner_steps_by_tensors
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: MAML with functional weights
import keras
import tensorflow as tf

theta = {
    "w1": tf.Variable(tf.random.normal((1, 12), stddev=0.5, seed=1), name="w1"),
    "b1": tf.Variable(tf.zeros((12,)), name="b1"),
    "w2": tf.Variable(tf.random.normal((12, 1), stddev=0.5, seed=2), name="w2"),
}
meta_opt = keras.optimizers.Adam(1e-2)


def predict(p, x):
    return tf.nn.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]


def mse(p, x, y):
    return tf.reduce_mean((predict(p, x) - y) ** 2)


@tf.function
def meta_step(tasks):
    with tf.GradientTape() as outer:
        total = 0.0
        for x, y in tasks:
            fast = {k: tf.convert_to_tensor(v) for k, v in theta.items()}
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch(fast)
                    loss = mse(fast, x, y)
                slopes = inner.gradient(loss, fast)
                fast = {k: fast[k] - 0.1 * slopes[k] for k in fast}
            total += mse(fast, x, y)
    grads = outer.gradient(total, theta)
    meta_opt.apply_gradients([(grads[k], theta[k]) for k in theta])
    return total


x = tf.random.uniform((10, 1), -2, 2, seed=3)
tasks = [(x, tf.sin(x + shift)) for shift in (0.0, 0.5, 1.0)]
losses = [float(meta_step(tasks)) for _ in range(10)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
