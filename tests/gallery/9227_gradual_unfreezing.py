# case: gradual_unfreezing
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; a new optimizer per stage is meant, the frozen layers are meant to stay
# exit: 0
# fix: -
# source: own; ULMFiT-style gradual unfreezing
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
layers = [keras.layers.Dense(12, activation="relu", name=f"block{i}") for i in range(3)] + [keras.layers.Dense(1, name="head")]
net = keras.Sequential([keras.layers.Input((6,)), *layers])
x = tf.random.normal((96, 6), seed=0)
y = tf.reduce_sum(x[:, :3], axis=1, keepdims=True)


def run_stage(open_layers, rate, epochs=12):
    for layer in layers:
        layer.trainable = layer in open_layers
    opt = keras.optimizers.Adam(rate)
    params = [v for layer in open_layers for v in layer.trainable_variables]
    for _ in range(epochs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return float(loss)


frozen = layers[0].get_weights()[0].copy()
ends = []
for depth in range(1, 4):
    ends.append(run_stage(layers[-depth:], rate=2e-2 / depth))
assert np.array_equal(frozen, layers[0].get_weights()[0])
ends.append(run_stage(layers, rate=5e-3))
assert ends[-1] < ends[0] and not np.array_equal(frozen, layers[0].get_weights()[0])
print("ok", ends)
