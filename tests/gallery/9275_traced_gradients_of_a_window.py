# case: traced_gradients_of_a_window
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: every window starts from zero
# exit: 0
# fix: -
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(1)])
weights = net.trainable_variables
opt = keras.optimizers.SGD(0.02)


@tf.function
def gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    return loss, tape.gradient(loss, weights)


x = tf.random.stateless_normal((24, 4), (1, 2))
y = tf.reduce_sum(x, axis=1, keepdims=True)
for epoch in range(3):
    totals = [tf.zeros_like(v) for v in weights]
    for start in range(0, 24, 8):
        loss, given = gradients(x[start : start + 8], y[start : start + 8])
        totals = [total + piece / 3.0 for total, piece in zip(totals, given)]
    opt.apply_gradients(zip(totals, weights))
    print(epoch, float(loss))
