# case: polyak_target_in_attributes
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: soft actor-critic
import keras
import tensorflow as tf


def mlp(n_in, n_out):
    return keras.Sequential([keras.layers.Input((n_in,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(n_out)])


class SoftCritic:
    def __init__(self, tau=0.05):
        self.net, self.slow = mlp(3, 1), mlp(3, 1)
        self.slow.set_weights(self.net.get_weights())
        self.opt, self.tau = keras.optimizers.Adam(1e-2), tau

    def follow(self):
        for s, v in zip(self.slow.variables, self.net.variables):
            s.assign(self.tau * v + (1.0 - self.tau) * s)

    @tf.function
    def learn(self, s, r, s2):
        with tf.GradientTape() as tape:
            backup = tf.stop_gradient(r + 0.9 * self.slow(s2))
            loss = tf.reduce_mean((self.net(s) - backup) ** 2)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        self.follow()
        return loss


critic = SoftCritic()
s, s2 = tf.random.normal((2, 32, 3), seed=1)
losses = [float(critic.learn(s, s[:, :1], s2)) for _ in range(20)]
print(losses[0], losses[-1])
assert losses[-1] < losses[0]
