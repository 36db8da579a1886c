# case: rmse_that_reaches_zero
# verdict: bug; static: yes
# cause: nan-sqrt
# expect_line: 19
# expect_variables: identity
# symptom_today: silent: NaN as soon as the fit is perfect
# exit: 0
# fix: minimise the mean square, or add 1e-12 under the root
# seen: RMSE as a custom loss
import keras
import tensorflow as tf

identity = tf.Variable(tf.eye(3), name="identity")
opt = keras.optimizers.SGD(0.1)
points = tf.random.normal((10, 3), seed=0)


def rmse(a, b):
    return tf.sqrt(tf.reduce_mean(tf.square(a - b)))


for epoch in range(2):
    with tf.GradientTape() as tape:
        loss = rmse(points @ identity, points)
    opt.apply_gradients([(tape.gradient(loss, identity), identity)])
    print(epoch, float(loss))
assert tf.reduce_all(tf.math.is_nan(identity))
