# case: hand_made_step_over_all_weights
# verdict: bug; static: yes
# cause: non-trainable-in-list
# expect_line: 30 31 32
# expect_variables: moving_mean, moving_variance
# symptom_today: raises TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# exit: 1 (TypeError)
# fix: loop over model.trainable_variables
# source: tensorflow/tensorflow#26404 (None gradients are those of BatchNormalization's statistics)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(16, use_bias=False),
    keras.layers.BatchNormalization(),
    keras.layers.Activation("relu"),
    keras.layers.Dense(1),
])
rng = np.random.default_rng(0)
x = rng.normal(size=(48, 8)).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
velocity = [np.zeros(w.shape, "float32") for w in model.weights]

for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.mean_squared_error(y, model(x, training=True)))
    grads = tape.gradient(loss, model.weights)
    for i, (w, g) in enumerate(zip(model.weights, grads)):
        velocity[i] = 0.9 * velocity[i] - 0.01 * g
        w.assign_add(velocity[i])
    print(epoch, float(loss))
