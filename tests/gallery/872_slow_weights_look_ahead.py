# case: slow_weights_look_ahead
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: Lookahead: slow weights written back into the fast ones every few steps
import keras
import tensorflow as tf

keras.utils.set_random_seed(8)
net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
slow = [tf.Variable(v, trainable=False) for v in net.trainable_variables]
opt = keras.optimizers.Adam(0.02)
counter = tf.Variable(0, trainable=False)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    counter.assign_add(1)
    if counter % 5 == 0:
        for s, v in zip(slow, net.trainable_variables):
            s.assign_add(0.5 * (v - s))
            v.assign(s)
    for v in net.trainable_variables:
        v.assign(tf.clip_by_value(v, -3.0, 3.0))
    return loss


x = tf.random.normal((40, 5), seed=8)
losses = [float(step(x, x[:, :1])) for _ in range(25)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
