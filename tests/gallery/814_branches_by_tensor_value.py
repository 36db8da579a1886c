# case: branches_by_tensor_value
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: tf.cond and AutoGraph if in a train step
import keras
import tensorflow as tf

w = tf.Variable([1.0, -2.0, 3.0], name="w")
opt = keras.optimizers.SGD(0.05)


@tf.function
def robust(x, y):
    with tf.GradientTape() as tape:
        error = tf.tensordot(x, w, 1) - y
        worst = tf.reduce_max(tf.abs(error))
        if worst > 1.0:
            loss = tf.reduce_mean(tf.abs(error))
        else:
            loss = tf.reduce_mean(error**2)
        loss += tf.cond(tf.norm(w) > 2.0, lambda: 0.01 * tf.reduce_sum(w**2), lambda: tf.constant(0.0))
    g = tape.gradient(loss, w)
    opt.apply_gradients([(g, w)])
    return loss


x = tf.random.normal((20, 3), seed=5)
y = tf.tensordot(x, tf.constant([0.5, 0.5, 0.5]), 1)
losses = [float(robust(x, y)) for _ in range(40)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
