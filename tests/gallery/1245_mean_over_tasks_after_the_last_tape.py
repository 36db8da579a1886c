# case: mean_over_tasks_after_the_last_tape
# verdict: bug; static: yes
# cause: outside-tape
# expect_line: 31 29 30 32
# expect_variables: learner/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: open one tape around the loop over the tasks and average inside it
# source: discuss.tensorflow.org 20305 (where does the tape break: losses collected in a list)
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
learner = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(16, activation="tanh"),
                            keras.layers.Dense(1)], name="learner")
optimizer = keras.optimizers.SGD(0.05)
mse = keras.losses.MeanSquaredError()


def sine_task(k):
    x = tf.random.uniform((10, 1), -3.0, 3.0, seed=k)
    return x, tf.sin(x + 0.5 * k)


for meta_step in range(3):
    task_losses = []
    for k in range(4):
        x, y = sine_task(k)
        with tf.GradientTape() as tape:
            task_losses.append(mse(y, learner(x, training=True)))
    meta_loss = tf.reduce_mean(tf.stack(task_losses))
    grads = tape.gradient(meta_loss, learner.trainable_variables)
    optimizer.apply_gradients(zip(grads, learner.trainable_variables))
    print(meta_step, float(meta_loss))
