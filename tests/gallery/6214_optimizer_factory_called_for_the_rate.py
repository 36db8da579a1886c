# case: optimizer_factory_called_for_the_rate
# verdict: bug; static: yes
# cause: optimizer-recreated
# expect_line: 26 30
# expect_variables: - (the optimizer's moments)
# symptom_today: silent: Adam is new in each step, iterations never passes 1
# exit: 0
# fix: make the optimizer once and set optimizer.learning_rate
# source: tensorflow/tensorflow#27120 (an optimizer created in every training step)
import math
import tensorflow as tf
import keras

keras.utils.set_random_seed(30)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
x = tf.random.normal((64, 8))
y = tf.reduce_sum(x[:, :3], axis=1, keepdims=True)
TOTAL = 20


def make_optimizer(step, peak=0.02):
    if step < 4:
        rate = peak * (step + 1) / 4
    else:
        rate = 0.5 * peak * (1 + math.cos(math.pi * (step - 4) / (TOTAL - 4)))
    return keras.optimizers.Adam(learning_rate=rate, beta_1=0.9)


for step in range(TOTAL):
    optimizer = make_optimizer(step)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
print("loss", float(loss), "iterations", int(optimizer.iterations.numpy()))
assert int(optimizer.iterations.numpy()) == 1
