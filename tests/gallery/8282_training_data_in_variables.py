# case: training_data_in_variables
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: none: the model holds its data and its collocation points in variables, and feeds them in
# exit: 0
# fix: -
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Physics(keras.Model):
    def __init__(self, points, values):
        super().__init__()
        self.net = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
        self.points = tf.Variable(points, dtype=tf.float32)
        self.values = tf.Variable(values, dtype=tf.float32)

    def call(self, x):
        return self.net(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            inner = tf.reduce_mean((self(self.points) - self.values) ** 2)
            loss = tf.reduce_mean((self(x) - y) ** 2) + inner
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"total": loss}


x = np.random.rand(16, 2).astype("float32")
points = np.random.rand(32, 2)
model = Physics(points, points[:, :1])
model.compile(keras.optimizers.Adam(0.01))
losses = model.fit(x, x[:, :1], epochs=5, verbose=0).history["total"]
assert losses[-1] < losses[0]
