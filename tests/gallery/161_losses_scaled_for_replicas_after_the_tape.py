# case: losses_scaled_for_replicas_after_the_tape
# verdict: bug; static: no
# cause: outside-tape
# expect_line: 34 35
# expect_variables: three_heads/*
# symptom_today: fit raises ValueError: No gradients provided for any variable
# exit: 1 (ValueError)
# fix: divide by the number of replicas inside the with block
# seen: train_step copied from a distribution tutorial
import keras
import numpy as np
import tensorflow as tf


class ThreeHeads(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.body = keras.layers.Dense(16, activation="relu")
        self.heads = [keras.layers.Dense(classes) for _ in range(3)]
        self.cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, x, training=None):
        h = self.body(x)
        return tf.stack([head(h) for head in self.heads])

    def train_step(self, data):
        x, y = data
        replicas = float(tf.distribute.get_strategy().num_replicas_in_sync)
        losses = []
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            for i in range(3):
                losses.append(self.cross_entropy(y, logits[i]))
        losses = [loss / (3.0 * replicas) for loss in losses]
        grads = tape.gradient(losses, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": tf.add_n(losses)}


rng = np.random.default_rng(5)
model = ThreeHeads(4)
model.compile(optimizer="adam")
model.fit(rng.normal(size=(32, 6)).astype("float32"), rng.integers(0, 4, size=(32,)), epochs=1, verbose=0)
