# case: sam_in_the_right_order
# verdict: healthy
# cause: -
# expect_line: -
# expect_variables: -
# symptom_today: trains; the weights are moved and moved back between two forward passes on purpose
# exit: 0
# fix: -
# source: own; the right form of sayakpaul/Sharpness-Aware-Minimization-TensorFlow#7
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class SAMModel(keras.Model):
    def __init__(self, rho=0.05):
        super().__init__()
        self.rho = rho
        self.net = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])

    def call(self, x, training=False):
        return self.net(x, training=training)

    def gradients(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        return loss, tape.gradient(loss, self.trainable_variables)

    def train_step(self, data):
        x, y = data
        loss, first = self.gradients(x, y)
        scale = self.rho / (tf.linalg.global_norm(first) + 1e-12)
        for v, g in zip(self.trainable_variables, first):
            v.assign_add(g * scale)
        _, second = self.gradients(x, y)
        for v, g in zip(self.trainable_variables, first):
            v.assign_sub(g * scale)
        self.optimizer.apply_gradients(zip(second, self.trainable_variables))
        return {"loss": loss, "gap": tf.linalg.global_norm([a - b for a, b in zip(first, second)])}


rng = np.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32")
y = np.argmax(x[:, :3], axis=1)
model = SAMModel()
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
log = model.fit(x, y, batch_size=20, epochs=12, verbose=0).history
assert log["loss"][-1] < log["loss"][0] and min(log["gap"]) > 0
print("ok", log["loss"][0], log["loss"][-1])
