# case: forger_and_judge
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7444
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(44)
forger = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
judge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
loss_of = keras.losses.BinaryCrossentropy(from_logits=True)
of_forger, of_judge = keras.optimizers.Adam(0.005), keras.optimizers.Adam(0.005)
yes, no = tf.ones((32, 1)), tf.zeros((32, 1))
before = forger(tf.zeros((1, 4))).numpy()
for _ in range(60):
    real = tf.constant(np.random.normal(3.0, 0.5, size=(32, 2)), tf.float32)
    noise = tf.random.normal((32, 4))
    with tf.GradientTape() as tape:
        doubt = loss_of(yes, judge(real)) + loss_of(no, judge(forger(noise)))
    of_judge.apply_gradients(zip(tape.gradient(doubt, judge.trainable_variables), judge.trainable_variables))
    with tf.GradientTape() as tape:
        caught = loss_of(yes, judge(forger(noise)))
    of_forger.apply_gradients(zip(tape.gradient(caught, forger.trainable_variables), forger.trainable_variables))
assert np.abs(forger(tf.zeros((1, 4))).numpy() - before).max() > 0.01
