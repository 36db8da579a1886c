# case: penalty_on_every_variable
# verdict: bug; static: yes
# cause: non-trainable-in-list | variable-not-in-loss
# expect_line: 35 39
# expect_variables: moving_mean, moving_variance
# symptom_today: the update raises TypeError: the gradients of the moving statistics are None
# exit: 1 (TypeError)
# fix: net.trainable_variables
# seen: hand-written optimisers over model.variables
import keras
import tensorflow as tf

net = keras.Sequential(
    [
        keras.layers.Input((5,)),
        keras.layers.Dense(6, use_bias=False),
        keras.layers.BatchNormalization(),
        keras.layers.ReLU(),
        keras.layers.Dense(1),
    ]
)


class Lion:
    def __init__(self, variables, rate=1e-3, beta=0.9):
        self.variables, self.rate, self.beta = variables, rate, beta
        self.momenta = [tf.Variable(tf.zeros(v.shape)) for v in variables]

    def apply(self, grads):
        for v, m, g in zip(self.variables, self.momenta, grads):
            v.assign_sub(self.rate * tf.sign(self.beta * m + (1.0 - self.beta) * g))
            m.assign(self.beta * m + (1.0 - self.beta) * g)


lion = Lion(net.variables)
x = tf.random.normal((24, 5), seed=2)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((net(x, training=True) - x[:, :1]) ** 2)
lion.apply(tape.gradient(loss, net.variables))
