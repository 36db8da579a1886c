# case: private_training_with_clipped_examples
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: DP-SGD: clip each example's gradient, sum, add noise
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.2)


def clipped(x, y, limit=1.0):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x[None]) - y[None]) ** 2)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), limit)
    return grads


x = tf.random.normal((8, 4), seed=2)
y = x[:, :1]
first = float(tf.reduce_mean((net(x) - y) ** 2))
for _ in range(15):
    total = [tf.zeros_like(v) for v in net.trainable_variables]
    for one, target in zip(x, y):
        total = [t + g for t, g in zip(total, clipped(one, target))]
    noisy = [(t + tf.random.normal(t.shape, stddev=0.01)) / 8.0 for t in total]
    opt.apply_gradients(zip(noisy, net.trainable_variables))
last = float(tf.reduce_mean((net(x) - y) ** 2))
print(first, last)
assert last < first
