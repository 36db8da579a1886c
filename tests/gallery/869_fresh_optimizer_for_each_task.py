# case: fresh_optimizer_for_each_task
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: continual learning: a new optimizer when the task changes, many steps each
import keras
import tensorflow as tf

keras.utils.set_random_seed(6)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
x = tf.random.normal((40, 4), seed=6)
tasks = {"sum": tf.reduce_sum(x, 1, keepdims=True), "first": x[:, :1], "product": x[:, :1] * x[:, 1:2]}


def train(y, opt, steps=8):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        losses.append(float(loss))
    return losses


for name, y in tasks.items():
    losses = train(y, keras.optimizers.Adam(0.02))
    print(name, losses[0], losses[-1])
    assert losses[-1] < losses[0]
