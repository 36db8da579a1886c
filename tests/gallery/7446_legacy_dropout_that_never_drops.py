# case: legacy_dropout_that_never_drops
# verdict: bug; static: no
# cause: training-flag
# expect_line: 34
# expect_variables: -
# symptom_today: silent: without training=True the dropout layers do nothing
# exit: 0
# fix: net(x, training=True) in the training step
# seen: the most common slip in custom loops
import tf_keras as keras
import tensorflow as tf

keras.utils.set_random_seed(0)


class Regularised(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.wide = keras.layers.Dense(width, activation="relu")
        self.drop = keras.layers.Dropout(0.5)
        self.out = keras.layers.Dense(1)

    def call(self, x, training=None):
        return self.out(self.drop(self.wide(x), training=training))


net = Regularised(32)
opt = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        prediction = net(x)
        loss = tf.reduce_mean((prediction - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return prediction


x = tf.random.normal((16, 4), seed=0)
opt.learning_rate = 0.0
first, second = train_step(x, x[:, :1]), train_step(x, x[:, :1])
assert tf.reduce_all(first == second)
print("no noise in training")
