# case: order_amounts_drawn_with_keras_gamma
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own
import tensorflow as tf
import keras
from keras import ops

keras.utils.set_random_seed(101)
net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, activation="tanh"),
                        keras.layers.Dense(1, activation="softplus")], name="concentration")
opt = keras.optimizers.Adam(0.05)
seeds = keras.random.SeedGenerator(5)
x = tf.random.normal((128, 3))


@tf.function
def step():
    with tf.GradientTape() as tape:
        alpha = net(x, training=True) + 0.5
        amount = keras.random.gamma((128, 1), alpha=alpha, seed=seeds)      # implicit reparameterisation
        loss = ops.mean(ops.square(amount - 3.0))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return ops.mean(alpha)


first = float(step())
for _ in range(60):
    last = float(step())
print("mean concentration", first, last)
assert last > first + 0.5
