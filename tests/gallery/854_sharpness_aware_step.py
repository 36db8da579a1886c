# case: sharpness_aware_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: SAM: perturb, take the gradient there, restore, apply
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
net = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.05)
variables = net.trainable_variables


def gradient(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    return loss, tape.gradient(loss, variables)


@tf.function
def sam_step(x, y, rho=0.05):
    loss, grads = gradient(x, y)
    scale = rho / (tf.linalg.global_norm(grads) + 1e-12)
    moves = [g * scale for g in grads]
    for v, m in zip(variables, moves):
        v.assign_add(m)
    _, sharp = gradient(x, y)
    for v, m in zip(variables, moves):
        v.assign_sub(m)
    opt.apply_gradients(zip(sharp, variables))
    return loss


x = tf.random.normal((32, 5), seed=1)
losses = [float(sam_step(x, x[:, :1])) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
