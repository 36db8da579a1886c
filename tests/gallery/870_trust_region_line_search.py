# case: trust_region_line_search
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: TRPO: trial weights are assigned, tried and taken back
import tensorflow as tf

theta = tf.Variable(tf.random.normal((3, 2), seed=7), name="theta")
states = tf.random.normal((30, 3), seed=8)
actions = tf.cast(states[:, 0] > 0, tf.int32)
advantage = tf.ones((30,))
old = tf.stop_gradient(tf.nn.log_softmax(states @ theta))


def surrogate():
    logp = tf.nn.log_softmax(states @ theta)
    ratio = tf.exp(tf.gather(logp - old, actions, batch_dims=1))
    kl = tf.reduce_mean(tf.reduce_sum(tf.exp(old) * (old - logp), -1))
    return tf.reduce_mean(ratio * advantage), kl


def improve():
    with tf.GradientTape() as tape:
        gain, _ = surrogate()
    direction = tape.gradient(gain, theta)
    start = theta.numpy()
    for fraction in (4.0, 2.0, 1.0, 0.5, 0.25):
        theta.assign(start + fraction * direction)
        new_gain, kl = surrogate()
        if new_gain > gain and kl < 0.1:
            return float(new_gain)
    theta.assign(start)
    return float(gain)


gains = [improve() for _ in range(4)]
print(gains)
assert gains[-1] > 1.0
