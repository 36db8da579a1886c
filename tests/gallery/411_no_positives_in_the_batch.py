# case: no_positives_in_the_batch
# verdict: bug; static: no
# cause: nan-empty-reduce
# expect_line: 28
# expect_variables: detector/*
# symptom_today: silent: the third batch has no positives; mean of nothing is NaN
# exit: 0
# fix: sum divided by max(count, 1)
# seen: hard-example and positive-only losses
import keras
import numpy as np
import tensorflow as tf


class Detector(keras.Model):
    def __init__(self):
        super().__init__(name="detector")
        self.net = keras.layers.Dense(1)

    def call(self, x):
        return self.net(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            error = tf.abs(self(x, training=True) - y)
            positives = tf.boolean_mask(error, y > 0)
            scale = tf.reduce_mean(positives)
            loss = tf.reduce_mean(error) * (1.0 + scale)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"error": loss}


detector = Detector()
detector.compile(optimizer="adam")
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
y = np.zeros((32, 1), "float32")
y[:16] = 1.0
detector.fit(x, y, batch_size=8, shuffle=False, epochs=1, verbose=0)
print(detector.get_weights()[0].ravel())
assert np.isnan(detector.get_weights()[0]).all()
