# case: moving_average_evaluated_then_swapped_back
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: evaluating EMA weights between epochs
import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
ema = [tf.Variable(v, trainable=False) for v in net.trainable_variables]
opt = keras.optimizers.SGD(0.02)
x = tf.random.normal((64, 4), seed=3)
y = tf.reduce_sum(x, 1, keepdims=True)


def loss_of(training):
    return tf.reduce_mean((net(x, training=training) - y) ** 2)


def evaluate_average():
    backup = [v.numpy() for v in net.trainable_variables]
    for v, a in zip(net.trainable_variables, ema):
        v.assign(a)
    value = float(loss_of(training=False))
    for v, b in zip(net.trainable_variables, backup):
        v.assign(b)
    return value


first = evaluate_average()
for _ in range(15):
    with tf.GradientTape() as tape:
        loss = loss_of(training=True)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    for a, v in zip(ema, net.trainable_variables):
        a.assign(0.8 * a + 0.2 * v)
last = evaluate_average()
print(first, last)
assert last < first
