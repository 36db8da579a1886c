# case: relu_output_for_signed_targets_in_a_loop
# verdict: bug; static: no
# cause: output-cannot-reach-target
# expect_line: 20
# expect_variables: - (the fault is not one of variables)
# symptom_today: silent: nothing below zero is ever predicted
# exit: 0
# fix: no activation in the last layer
# seen: relu everywhere, the last layer included
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
x = np.random.normal(size=(128, 4)).astype("float32")
change = np.tanh(x[:, :1] - x[:, 2:3]) * 2.0
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
