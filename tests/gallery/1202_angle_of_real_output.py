# case: angle_of_real_output
# verdict: bug; static: no
# cause: non-differentiable-op
# expect_line: 25
# expect_variables: dense/*, dense_1/*
# symptom_today: raises ValueError: No gradients provided for any variable.
# exit: 1 (ValueError)
# fix: the angle of a real number is only a comparison with zero: give the loss complex numbers (tf.complex) or use a sign-free loss
# source: tensorflow/tensorflow#50854 (tf.math.angle in a custom loss gives None)
import math
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class PhaseTrainer:
    """Trains a network so that the phase of its output agrees with the phase of the label."""

    def __init__(self, net):
        self.net = net
        self.opt = keras.optimizers.SGD(0.05)

    def phase(self, signal):
        return tf.math.angle(signal) / math.pi

    def loss(self, target, guess):
        return tf.reduce_mean(tf.square(self.phase(target) - self.phase(guess)))

    def step(self, x, target):
        with tf.GradientTape() as tape:
            value = self.loss(target, self.net(x, training=True))
        weights = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(value, weights), weights))
        return float(value)


net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(2)])
trainer = PhaseTrainer(net)
x = tf.random.normal((16, 4), seed=1)
target = tf.stack([x[:, 0], -x[:, 1]], axis=1)
for epoch in range(3):
    print(epoch, trainer.step(x, target))
