# case: latent_without_its_noise
# verdict: bug; static: yes
# cause: sampling-noise-unused | variable-not-in-loss
# expect_line: 19 21 22
# expect_variables: - (the draw that is not used; log_var/* has no noise to scale)
# symptom_today: silent: trains as a plain autoencoder: two calls give the same sample
# exit: 0
# fix: return mean + exp(0.5 * log_var) * eps
# seen: VAEs with two intermediate names that look alike
import keras
import tensorflow as tf

keras.utils.set_random_seed(2)


class Sampler(keras.layers.Layer):
    def call(self, pair):
        mean, log_var = pair
        eps = keras.random.normal(keras.ops.shape(mean), seed=3)
        spread = keras.ops.exp(0.5 * log_var)
        noisy = spread * eps
        return mean + spread


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.mean, self.log_var = keras.layers.Dense(2, name="mean"), keras.layers.Dense(2, name="log_var")
        self.sample, self.decode = Sampler(), keras.layers.Dense(6, name="decode")

    def call(self, x):
        mean, log_var = self.mean(x), self.log_var(x)
        self.add_loss(-0.005 * keras.ops.mean(1 + log_var - mean**2 - keras.ops.exp(log_var)))
        return self.decode(self.sample((mean, log_var)))


vae = VAE()
vae.compile(keras.optimizers.Adam(0.02), "mse")
x = tf.random.normal((64, 6), seed=4)
vae.fit(x, x, epochs=2, verbose=0)
same = vae(x[:3]).numpy() == vae(x[:3]).numpy()
print(same.all())
assert same.all()
