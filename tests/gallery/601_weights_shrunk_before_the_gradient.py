# case: weights_shrunk_before_the_gradient
# verdict: bug; static: no
# cause: assign-between-forward-and-gradient
# expect_line: 20 27 28 29
# expect_variables: coefficient
# symptom_today: silent: the gradient is that of the weights before they were shrunk, applied to the new ones
# exit: 0
# fix: shrink after apply_gradients (or before the forward pass)
# seen: hand-written weight decay
import keras
import tensorflow as tf

coefficient = keras.Variable([2.0, -1.0], name="coefficient")
opt = keras.optimizers.SGD(1e-3)
x = tf.constant([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
y = tf.constant([1.0, 0.0, 2.0])


def shrink(variable, factor):
    variable.assign(variable * factor)


def train_step():
    with tf.GradientTape() as tape:
        cubic = tf.linalg.matvec(x, coefficient.value**3)
        loss = tf.reduce_mean((cubic - y) ** 2)
    shrink(coefficient, 0.5)
    slope = tape.gradient(loss, coefficient.value)
    opt.apply_gradients([(slope, coefficient)])
    return loss


for _ in range(2):
    print(float(train_step()), coefficient.numpy())
