# case: traces_counted_in_python
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a Python counter in a tf.function that counts retracing, on purpose
import keras
import tensorflow as tf

traces = 0
keras.utils.set_random_seed(5)
net = keras.Sequential([keras.layers.Input((None, 3)), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.1)


@tf.function
def step(x, y, *, use_huber=False):
    global traces
    traces += 1
    print("tracing for", x.shape)
    with tf.GradientTape() as tape:
        error = net(x, training=True) - y
        loss = tf.reduce_mean(tf.abs(error)) if use_huber else tf.reduce_mean(error**2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


losses = []
for _ in range(5):
    for length in (4, 6):
        x = tf.random.normal((8, length, 3), seed=length)
        losses.append(float(step(x, tf.reduce_mean(x[..., :1], 1))))
print(losses[0], losses[-1], traces)
assert losses[-1] < losses[0] and traces >= 2
