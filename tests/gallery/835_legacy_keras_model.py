# case: legacy_keras_model
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains / gradients present
# exit: 0
# fix: -
# seen: tf_keras with a custom train_step
import numpy as np
import tensorflow as tf
import tf_keras


class Regressor(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf_keras.layers.Dense(8, activation="relu")
        self.scale = tf.Variable(1.0, name="scale")
        self.out = tf_keras.layers.Dense(1)

    def call(self, x, training=False):
        return self.scale * self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            prediction = self(x, training=True)
            loss = self.compiled_loss(y, prediction, regularization_losses=self.losses)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        self.compiled_metrics.update_state(y, prediction)
        return {m.name: m.result() for m in self.metrics}


tf_keras.utils.set_random_seed(0)
net = Regressor()
net.compile(optimizer=tf_keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
log = net.fit(x, x[:, :1], epochs=4, verbose=0).history["loss"]
print(log)
assert log[-1] < log[0] and any("scale" in v.name for v in net.trainable_variables)
