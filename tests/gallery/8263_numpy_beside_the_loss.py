# case: numpy_beside_the_loss
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: a metric of a NumPy library, a copy of the loss in a variable, predict between the steps
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.05)
x = tf.random.normal((16, 3), seed=1)
last = tf.Variable(0.0, trainable=False)
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean((out - x[:, :1]) ** 2)
        last.assign(loss)
        worst = tf.numpy_function(lambda p: np.float32(np.abs(p).max()), [out], tf.float32)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(last))
    print(float(worst), model.predict(x, verbose=0)[0])
assert losses[-1] < losses[0]
