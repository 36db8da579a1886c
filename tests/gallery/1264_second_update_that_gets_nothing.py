# case: second_update_that_gets_nothing
# verdict: bug
# cause: non-differentiable-op
# expect_line: 24
# expect_variables: dense/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: use a smooth count (a sigmoid) for the second loss
# seen: a regression with a second optimizer for a budget
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
opt, budget_opt = keras.optimizers.Adam(0.01), keras.optimizers.SGD(0.01)
x = tf.random.normal((16, 3), seed=1)


@tf.function
def step(x, y):
    with tf.GradientTape(persistent=True) as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean((out - y) ** 2)
        budget = tf.reduce_mean(tf.cast(out > 0.5, tf.float32))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    budget_opt.apply_gradients(zip(tape.gradient(budget, model.trainable_variables), model.trainable_variables))
    return loss


for _ in range(3):
    step(x, x[:, :2])
