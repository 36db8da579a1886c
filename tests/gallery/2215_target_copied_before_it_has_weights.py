# case: target_copied_before_it_has_weights
# verdict: bug; static: no
# cause: unbuilt-model
# expect_line: 25
# expect_variables: - (none were there yet: target/* never received the online weights)
# symptom_today: silent: set_weights([]) copies nothing, target and online differ from the start
# exit: 0
# fix: build both networks (call them once) before target.set_weights(online.get_weights())
# source: ageron/handson-ml2#302 (clone_model does not copy weights) and albermax/innvestigate#88 (get_weights of an unbuilt clone is an empty list)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(11)


def make_net(name):
    return keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)], name=name)


class Agent:
    def __init__(self):
        self.online = make_net("online")
        self.target = make_net("target")
        self.target.set_weights(self.online.get_weights())
        self.opt = keras.optimizers.Adam(1e-3)

    def learn(self, s, a, r, s2):
        boot = r + 0.9 * tf.reduce_max(self.target(s2), axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(boot - q))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        return float(loss)


agent = Agent()
rng = np.random.default_rng(0)
s = rng.normal(size=(32, 4)).astype("float32")
gap = np.abs(agent.online(s).numpy() - agent.target(s).numpy()).max()
print("difference at the start", gap)
for step in range(5):
    print(agent.learn(s, rng.integers(0, 3, 32), rng.normal(size=32).astype("float32"), s[::-1].copy()))
assert gap > 1e-3
