# case: trainer_and_script_name_one_network
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the fixed targets are meant to be of the same network, and the script evaluates it by its own name
# exit: 0
# fix: none
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = keras.optimizers.Adam(1e-2)

    @tf.function
    def step(self, x, y, u):
        with tf.GradientTape() as tape:
            sup = tf.reduce_mean(
                keras.losses.sparse_categorical_crossentropy(y, self.net(x, training=True), from_logits=True)
            )
            p = tf.stop_gradient(tf.nn.softmax(self.net(u, training=True)))
            q = self.net(u + tf.random.normal(tf.shape(u)) * 0.3, training=True)
            cons = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(p, q))
            loss = sup + cons
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return loss


def main():
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(2)])
    t = Trainer(net)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 4)).astype("float32")
    y = (x.sum(1) > 0).astype("int32")
    for i in range(40):
        j = rng.integers(0, 256, 32)
        t.step(x[j], y[j], x[rng.integers(0, 256, 32)])
    print(np.mean(np.argmax(net(x, training=False), 1) == y))


main()
