# case: world_model_warm_up
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none; the list is read in the constructor too, but the parts have been called once before that
# exit: 0
# fix: -
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(14)
OBS, ACT, LATENT = 6, 2, 8


class WorldModel:
    def __init__(self, lr=1e-2):
        self.encoder = keras.Sequential([
            keras.layers.Dense(LATENT, activation="tanh", name="enc_out")])
        self.dynamics = keras.Sequential([
            keras.layers.Dense(32, activation="tanh", name="dyn_hidden"),
            keras.layers.Dense(OBS, name="dyn_out")])
        self.reward = keras.Sequential([
            keras.layers.Dense(16, activation="tanh", name="rew_hidden"),
            keras.layers.Dense(1, name="rew_out")])
        self._warm_up()
        self.optimizer = keras.optimizers.Adam(lr)
        self.params = (self.encoder.trainable_variables
                       + self.dynamics.trainable_variables
                       + self.reward.trainable_variables)

    def _warm_up(self):
        self.predict(tf.zeros((1, OBS)), tf.zeros((1, ACT)))

    def predict(self, obs, act):
        code = self.encoder(obs)
        za = tf.concat([code, act], axis=1)
        return self.dynamics(za), tf.squeeze(self.reward(za), axis=1)

    def train(self, obs, act, next_obs, rew):
        with tf.GradientTape() as tape:
            obs_hat, rew_hat = self.predict(obs, act)
            loss = (tf.reduce_mean(tf.square(obs_hat - next_obs))
                    + tf.reduce_mean(tf.square(rew_hat - rew)))
        grads = tape.gradient(loss, self.params)
        self.optimizer.apply_gradients(zip(grads, self.params))
        return loss


A = 0.8 * np.linalg.qr(np.random.randn(OBS, OBS))[0]
B = 0.5 * np.random.randn(ACT, OBS)
obs = np.random.randn(512, OBS).astype("float32")
act = np.random.uniform(-1, 1, (512, ACT)).astype("float32")
next_obs = (obs @ A + act @ B).astype("float32")
rew = (0.5 * next_obs[:, 0] - 0.2 * act[:, 1]).astype("float32")

data = tf.data.Dataset.from_tensor_slices((obs, act, next_obs, rew)).shuffle(512).batch(128)
wm = WorldModel()
print("variables to train:", len(wm.params))
for epoch in range(12):
    losses = [float(wm.train(*batch)) for batch in data]
    if epoch % 3 == 0 or epoch == 11:
        print("epoch", epoch, "loss %.4f" % np.mean(losses))
