# case: first_order_maml
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none, the query loss falls (first order MAML: gradients of the adapted copy are meant for the meta weights)
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

INNER_LR = 0.05
META_STEPS = 24


def make_net(prefix):
    return keras.Sequential([
        keras.Input((1,)),
        keras.layers.Dense(20, activation="tanh", name=prefix + "_hidden"),
        keras.layers.Dense(1, name=prefix + "_out"),
    ], name=prefix)


def sample_task(k=10):
    """A sine wave with its own amplitude and phase: support set and query set."""
    amp, phase = rng.uniform(0.8, 1.5), rng.uniform(0.0, 0.6)
    x = rng.uniform(-2.0, 2.0, size=(2 * k, 1)).astype("float32")
    y = (amp * np.sin(x + phase)).astype("float32")
    return x[:k], y[:k], x[k:], y[k:]


def mse(y, pred):
    return tf.reduce_mean(tf.square(y - pred))


meta_net = make_net("meta")
fast_net = make_net("fast")
meta_opt = keras.optimizers.Adam(5e-3)

tasks = [sample_task() for _ in range(3)]

for step in range(META_STEPS):
    total, query_losses = None, []
    for xs, ys, xq, yq in tasks:
        for fast, slow in zip(fast_net.trainable_variables, meta_net.trainable_variables):
            fast.assign(slow)
        with tf.GradientTape() as inner_tape:
            support_loss = mse(ys, fast_net(xs))
        inner_grads = inner_tape.gradient(support_loss, fast_net.trainable_variables)
        for fast, g in zip(fast_net.trainable_variables, inner_grads):
            fast.assign_sub(INNER_LR * g)
        # first order: the gradient at the adapted weights stands for the meta gradient (second derivatives are dropped)
        with tf.GradientTape() as query_tape:
            query_loss = mse(yq, fast_net(xq))
        grads = query_tape.gradient(query_loss, fast_net.trainable_variables)
        total = grads if total is None else [t + g for t, g in zip(total, grads)]
        query_losses.append(float(query_loss))
    meta_grads = [t / len(tasks) for t in total]
    meta_opt.apply_gradients(zip(meta_grads, meta_net.trainable_variables))
    if step % 4 == 0 or step == META_STEPS - 1:
        print("meta step", step, "query loss", np.mean(query_losses))
