# case: bad_batches_are_skipped
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a guard against non-finite gradients
import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.1)
opt.build(net.trainable_variables)
skipped = tf.Variable(0, trainable=False, name="skipped")


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x) - y))
    grads = tape.gradient(loss, net.trainable_variables)
    norm = tf.linalg.global_norm(grads)
    if tf.math.is_finite(norm):
        opt.apply_gradients(zip(grads, net.trainable_variables))
    else:
        skipped.assign_add(1)
    return loss


batches = [tf.random.normal((8, 3), seed=s) for s in range(6)]
for x in batches:
    step(x, x[:, :1])
print(int(skipped), float(tf.norm(net.trainable_variables[0])))
assert int(skipped) == 0
