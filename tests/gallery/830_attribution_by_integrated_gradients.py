# case: attribution_by_integrated_gradients
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: saliency and integrated gradients of a trained model
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
net = keras.Sequential([keras.layers.Input((6,)), keras.layers.Dense(8, activation="softplus"), keras.layers.Dense(2)])
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(x, (x[:, 0] > 0).astype("int32"), epochs=2, verbose=0)


def gradient_at(points, target):
    with tf.GradientTape() as tape:
        tape.watch(points)
        score = tf.nn.softmax(net(points))[:, target]
    return tape.gradient(score, points)


def integrated(sample, target, steps=20):
    baseline = tf.zeros_like(sample)
    alphas = tf.linspace(0.0, 1.0, steps)[:, None]
    path = baseline + alphas * (sample - baseline)
    return (sample - baseline) * tf.reduce_mean(gradient_at(path, target), axis=0)


sample = tf.constant(x[0])
predicted = int(tf.argmax(net(sample[None])[0]))
attribution = integrated(sample, predicted)
total = float(tf.reduce_sum(attribution))
change = float(tf.nn.softmax(net(sample[None]))[0, predicted] - tf.nn.softmax(net(tf.zeros((1, 6))))[0, predicted])
print(total, change)
assert abs(total - change) < 0.1
