# case: forward_pass_above_the_tape_of_a_compiled_step
# verdict: bug
# cause: outside-tape
# expect_line: 21
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: call the model inside the tape's block
# seen: a step that was tidied up
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((16, 3), seed=1)


@tf.function
def step(x, y):
    out = model(x, training=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((out - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


step(x, x[:, :1])
