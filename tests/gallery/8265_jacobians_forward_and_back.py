# case: jacobians_forward_and_back
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: the same jacobian by batch_jacobian and by forward mode
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(2)])
x = tf.random.normal((5, 3), seed=1)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = model(x)
whole = tape.batch_jacobian(y, x)
columns = []
for k in range(3):
    direction = tf.one_hot([k] * 5, 3)
    with tf.autodiff.ForwardAccumulator(x, direction) as forward:
        y = model(x)
    columns.append(forward.jvp(y))
assert tf.reduce_max(tf.abs(whole - tf.stack(columns, axis=-1))) < 1e-5
