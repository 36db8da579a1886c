# case: tape_emptied_at_the_start_of_each_step
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: one tape for a whole run, stopped for what is not to be recorded
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.05)
x = tf.random.normal((16, 3), seed=1)
losses = []
with tf.GradientTape(persistent=True) as tape:
    for _ in range(12):
        tape.reset()
        loss = tf.reduce_mean((model(x, training=True) - x[:, :1]) ** 2)
        with tape.stop_recording():
            gradients = tape.gradient(loss, model.trainable_variables)
            opt.apply_gradients(zip(gradients, model.trainable_variables))
            losses.append(float(loss))
assert losses[-1] < losses[0]
