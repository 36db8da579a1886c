# case: keras_layers_inside_tf_module
# verdict: bug; static: no
# cause: untracked-variable
# expect_line: 22 23 24 41
# expect_variables: dense/*, dense_1/*, dense_2/* (first, middle and last)
# symptom_today: silent: net.trainable_variables is empty, the loss never goes down
# exit: 0
# fix: derive from keras.Model, or collect the variables of the layers yourself
# source: tensorflow/tensorflow#84019 and #27046 (tf.Module does not see the variables of Keras layers)
import random
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class DynamicNet(tf.Module):
    """A network whose middle layer is applied a random number of times."""

    def __init__(self, hidden):
        super().__init__(name="dynamic")
        self.first = keras.layers.Dense(hidden, activation="relu")
        self.middle = keras.layers.Dense(hidden, activation="relu")
        self.last = keras.layers.Dense(1)

    def __call__(self, x):
        h = self.first(x)
        for _ in range(random.randint(0, 3)):
            h = self.middle(h)
        return self.last(h)


net = DynamicNet(10)
x = tf.random.normal((64, 5), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)
net.last(net.middle(net.first(x)))
losses = []
for step in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - y))
    grads = tape.gradient(loss, net.trainable_variables)
    for g, v in zip(grads, net.trainable_variables):
        v.assign_sub(0.01 * g)
    losses.append(float(loss))
print(losses, "variables seen:", len(net.trainable_variables))
assert len(net.trainable_variables) == 0
