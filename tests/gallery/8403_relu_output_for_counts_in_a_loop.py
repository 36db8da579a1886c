# case: relu_output_for_counts_in_a_loop
# verdict: healthy; static: no
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: -
# exit: 0
# fix: -
# seen: the look-alike of 7403
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
x = np.random.normal(size=(128, 4)).astype("float32")
change = np.tanh(x[:, :1] - x[:, 2:3]) + 1.5
net = keras.Sequential([
    keras.Input((4,)),
    keras.layers.Dense(16, activation="tanh"),
    keras.layers.Dense(1, activation="relu", bias_initializer="ones"),
])
measure = keras.losses.MeanSquaredError()
adam = keras.optimizers.Adam(0.01)
for step in range(40):
    with tf.GradientTape() as tape:
        loss = measure(change, net(x, training=True))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
assert net(x).numpy().min() >= 0.0
