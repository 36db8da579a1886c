# case: tape_reset_before_the_gradient
# verdict: bug
# cause: outside-tape
# expect_line: 20
# expect_variables: dense/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: reset the tape at the start of a step
# seen: a tape that is kept open over all steps
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((16, 3), seed=1)
with tf.GradientTape(persistent=True) as tape:
    for _ in range(3):
        loss = tf.reduce_mean((model(x, training=True) - x[:, :1]) ** 2)
        tape.reset()
        gradients = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(gradients, model.trainable_variables))
