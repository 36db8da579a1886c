# case: loss_is_the_sum_of_a_normalised_layer
# verdict: bug; static: no
# cause: zero-gradient-op
# expect_line: 27 29
# expect_variables: features/* (all gradients zero up to rounding)
# symptom_today: silent: gradients of the features are zero up to rounding, only the offset (beta) moves
# exit: 0
# fix: do not sum what LayerNormalization has just made mean-free; read the score from a Dense layer after it
# source: own words, after reports of vanishing saliency maps when a normalised feature vector is summed
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
features = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="gelu"), keras.layers.Dense(12)], name="features")
norm = keras.layers.LayerNormalization(name="norm", scale=False)
norm.build((None, 12))
params = features.trainable_variables + norm.trainable_variables
opt = keras.optimizers.SGD(0.05)
x = tf.random.normal((32, 5), seed=0)
y = tf.reduce_sum(x, 1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(norm(features(x, training=True)), axis=-1)
        loss = tf.reduce_mean(tf.square(score - y))
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
    return loss, grads


for i in range(20):
    loss, grads = step()
print("loss", float(loss), [float(tf.reduce_max(tf.abs(g))) for g in grads])
assert max(float(tf.reduce_max(tf.abs(g))) for g in grads[:-1]) < 1e-4
