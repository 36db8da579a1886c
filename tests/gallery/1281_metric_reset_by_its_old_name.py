# case: metric_reset_by_its_old_name
# verdict: bug; static: yes
# cause: keras3-api-change
# expect_line: 22
# expect_variables: -
# symptom_today: AttributeError: 'Mean' object has no attribute 'reset_states'
# exit: 1
# fix: mean.reset_state()
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
mean = keras.metrics.Mean()
x = np.random.rand(16, 3).astype("float32")
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - 1.0) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    mean.reset_states()
