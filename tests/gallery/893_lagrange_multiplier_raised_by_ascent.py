# case: lagrange_multiplier_raised_by_ascent
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: constrained training with a dual variable
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
multiplier = tf.Variable(0.0, name="multiplier")
primal, dual = keras.optimizers.Adam(1e-2), keras.optimizers.SGD(0.5)
LIMIT = 0.05


@tf.function
def step(x, y, group):
    with tf.GradientTape(persistent=True) as tape:
        p = tf.nn.sigmoid(net(x, training=True)[:, 0])
        fit = tf.reduce_mean(keras.losses.binary_crossentropy(y[:, None], p[:, None]))
        gap = tf.abs(tf.reduce_mean(p[group]) - tf.reduce_mean(p[~group]))
        lagrangian = fit + multiplier * (gap - LIMIT)
        negative = -lagrangian
    grads = tape.gradient(lagrangian, net.trainable_variables)
    ascent = tape.gradient(negative, multiplier)
    primal.apply_gradients(zip(grads, net.trainable_variables))
    dual.apply_gradients([(ascent, multiplier)])
    multiplier.assign(tf.nn.relu(multiplier))
    return fit


x = tf.random.normal((64, 4), seed=1)
group = tf.constant([i % 2 == 0 for i in range(64)])
y = tf.cast(x[:, 0] + tf.where(group, 0.8, -0.8) > 0, tf.float32)
inputs = tf.concat([x[:, :3], tf.cast(group, tf.float32)[:, None]], axis=1)
losses = [float(step(inputs, y, group)) for _ in range(25)]
print(losses[0], losses[-1], float(multiplier))
assert float(multiplier) > 0.0
