# case: pose_distance_step
# verdict: bug
# cause: nan-norm | nan-sqrt
# expect_line: 34
# expect_variables: -
# symptom_today: NaN gradients of a norm of the residual when it is zero and
# exit: 0
# fix: -
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)


class PoseNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(32, activation="relu")
        self.offset = keras.layers.Dense(3, kernel_initializer="zeros", name="offset")
        self.error = keras.metrics.Mean(name="error")

    @property
    def metrics(self):
        return [self.error]

    def call(self, x):
        return self.offset(self.hidden(x))

    def train_step(self, data):
        x, target = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            distance = tf.norm(pred - target, axis=-1)
            loss = tf.reduce_mean(distance)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.error.update_state(loss)
        return {"error": self.error.result()}


def recordings(n=200):
    rng = np.random.default_rng(2)
    sensors = rng.normal(size=(n, 10)).astype("float32")
    motion = np.tanh(sensors[:, :3]) * 0.4
    at_rest = rng.uniform(size=n) < 0.15
    motion[at_rest] = 0.0
    return sensors, motion.astype("float32")


sensors, motion = recordings()
net = PoseNet()
net.compile(optimizer=keras.optimizers.Adam(1e-3))
history = net.fit(sensors, motion, batch_size=50, epochs=3, verbose=0)
print("error", history.history["error"])
