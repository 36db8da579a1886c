# case: masked_division_done_safely
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: double where, divide_no_nan, and logs of clipped probabilities
import keras
import tensorflow as tf

keras.utils.set_random_seed(6)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(5, activation="relu")])
opt = keras.optimizers.SGD(0.05)
x = tf.random.normal((16, 4), seed=6)
mask = tf.concat([tf.ones((12, 5)), tf.zeros((4, 5))], axis=0)


@tf.function
def step():
    with tf.GradientTape() as tape:
        h = net(x)
        positive = h > 0.0
        safe = tf.where(positive, h, tf.ones_like(h))
        logs = tf.where(positive, tf.math.log(safe), tf.zeros_like(h))
        mean = tf.math.divide_no_nan(tf.reduce_sum(logs * mask, 1), tf.reduce_sum(mask, 1))
        p = tf.clip_by_value(tf.nn.softmax(h), 1e-6, 1.0)
        entropy = -tf.reduce_sum(p * tf.math.log(p), -1)
        length = tf.sqrt(tf.reduce_sum(h**2, -1) + 1e-8)
        loss = tf.reduce_mean((mean - 0.5) ** 2) + 0.1 * tf.reduce_mean(entropy) + 0.01 * tf.reduce_mean(length)
    grads = tape.gradient(loss, net.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss, norm


values = [step() for _ in range(10)]
print([float(v[0]) for v in values][::9])
assert all(bool(tf.math.is_finite(v[1])) for v in values)
