# case: tape_told_to_watch_too_little
# verdict: bug; static: yes
# cause: unwatched-source
# expect_line: 25 26 27 28
# expect_variables: bias
# symptom_today: Keras warns about bias; it stays zero
# exit: 0
# fix: tape.watch both variables, or leave watch_accessed_variables at True
# seen: performance tuning of tapes with watch_accessed_variables=False
import keras
import tensorflow as tf

weight = tf.Variable(tf.random.normal((4, 1), seed=0), name="weight")
bias = tf.Variable(tf.zeros((1,)), name="bias")
parameters = {"weight": weight, "bias": bias}
opt = keras.optimizers.RMSprop(1e-2)


def line(x, *, weight, bias):
    return tf.linalg.matmul(x, weight) + bias


@tf.function(reduce_retracing=True)
def update(x, y):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(weight)
        loss = tf.reduce_mean(tf.abs(line(x, **parameters) - y))
    grads = tape.gradient(loss, list(parameters.values()))
    opt.apply_gradients(list(zip(grads, parameters.values())))
    return loss


x = tf.random.normal((40, 4), seed=1)
for _ in range(3):
    update(x, tf.reduce_sum(x, axis=1, keepdims=True) + 3.0)
print(bias.numpy())
assert bias.numpy() == 0.0
