# case: only_scale_and_shift_at_test_time
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# source: own (TENT pattern)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(160, 4)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int32")
model = keras.Sequential([keras.Input((4,)), layers.Dense(24), layers.BatchNormalization(), layers.ReLU(), layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=6, verbose=0)

shifted = (x * 1.5 + 0.7).astype("float32")
norm = [layer for layer in model.layers if isinstance(layer, layers.BatchNormalization)]
adapt = [v for layer in norm for v in (layer.gamma, layer.beta)]
opt = keras.optimizers.SGD(0.02, momentum=0.9)
kernel = model.layers[0].get_weights()[0].copy()
log = []
for it in range(15):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(model(shifted, training=True))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, -1))
    opt.apply_gradients(zip(tape.gradient(entropy, adapt), adapt))
    log.append(float(entropy))
print(log[0], log[-1])
assert log[-1] < log[0] and np.array_equal(kernel, model.layers[0].get_weights()[0])
