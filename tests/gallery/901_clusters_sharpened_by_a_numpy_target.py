# case: clusters_sharpened_by_a_numpy_target
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: deep embedded clustering: the target distribution is refreshed outside the tape
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(9)


class Clusters(keras.layers.Layer):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def build(self, shape):
        self.centres = self.add_weight(shape=(self.k, shape[-1]), initializer="glorot_uniform", name="centres")

    def call(self, z):
        distance = tf.reduce_sum((z[:, None] - self.centres[None]) ** 2, axis=-1)
        q = 1.0 / (1.0 + distance)
        return q / tf.reduce_sum(q, axis=1, keepdims=True)


def sharpen(q):
    weight = q**2 / q.sum(axis=0)
    return (weight.T / weight.sum(axis=1)).T


rng = np.random.default_rng(9)
x = np.concatenate([rng.normal(m, 0.4, size=(40, 5)) for m in (-2, 0, 2)]).astype("float32")
encoder = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
decoder = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(5)])
autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(keras.optimizers.Adam(0.01), "mse")
autoencoder.fit(x, x, epochs=3, verbose=0)

clusters = Clusters(3)
dec = keras.Sequential([encoder, clusters])
dec.build((None, 5))
codes = encoder.predict(x, verbose=0)
clusters.centres.assign(codes[rng.choice(len(codes), 3, replace=False)])
dec.compile(keras.optimizers.SGD(0.05), keras.losses.KLDivergence())
moves = []
for refresh in range(3):
    before = clusters.centres.numpy()
    target = sharpen(dec.predict(x, verbose=0))
    dec.train_on_batch(x, target)
    moves.append(np.abs(clusters.centres.numpy() - before).max())
print(moves)
assert min(moves) > 0.0
