# case: recording_stopped_around_the_loss
# verdict: bug
# cause: outside-tape
# expect_line: 20 21
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: stop the recording around the metric only
# seen: memory saved in the wrong place
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.01)
x = tf.random.normal((16, 3), seed=1)
for _ in range(3):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        with tape.stop_recording():
            error = out - x[:, :1]
        loss = tf.reduce_mean(error**2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
