# case: clustering_old_optimizer
# verdict: bug
# cause: keras3-api-change
# expect_line: 34
# expect_variables: -
# symptom_today: tf.train.AdamOptimizer is gone in TensorFlow 2 and
# exit: 1
# fix: -
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)


class DeepClustering(tf.Module):
    def __init__(self, n_clusters, dim, latent=2):
        super().__init__()
        gen = tf.random.Generator.from_seed(5)
        self.encode_w = tf.Variable(gen.normal((dim, latent), stddev=0.3))
        self.decode_w = tf.Variable(gen.normal((latent, dim), stddev=0.3))
        self.centres = tf.Variable(gen.normal((n_clusters, latent)))

    def latent(self, x):
        return tf.tanh(tf.matmul(x, self.encode_w))

    def losses(self, x):
        z = self.latent(x)
        recon = tf.reduce_mean(tf.square(tf.matmul(z, self.decode_w) - x))
        dist = tf.reduce_sum(tf.square(z[:, None] - self.centres[None]), -1)
        return recon, tf.reduce_mean(tf.reduce_min(dist, axis=1))


def fit(model, x, epochs=20, kappa=0.1):
    optimizer = tf.train.AdamOptimizer(0.001)
    for epoch in range(epochs):
        with tf.GradientTape() as tape:
            recon, cluster = model.losses(x)
            loss = recon + kappa * cluster
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        if epoch % 5 == 0:
            print(epoch, float(recon), float(cluster))


rng = np.random.default_rng(0)
blobs = np.concatenate([rng.normal(loc=c, scale=0.1, size=(50, 4)) for c in (-1.0, 0.0, 1.0)])
fit(DeepClustering(3, 4), blobs.astype("float32"))
