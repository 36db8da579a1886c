# case: sam_perturbs_after_the_second_forward
# verdict: bug; static: yes
# cause: assign-between-forward-and-gradient
# expect_line: 38 36 39
# expect_variables: dense/*, dense_1/* (the second gradient is that of the unperturbed weights)
# symptom_today: silent: sharpness-aware training equals plain training
# exit: 0
# fix: perturb the weights before the second forward pass
# source: sayakpaul/Sharpness-Aware-Minimization-TensorFlow#7 (second model evaluation stands before the parameter update, so both gradients are identical)
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)


class SAMModel(keras.Model):
    def __init__(self, rho=0.5):
        super().__init__()
        self.rho = rho
        self.net = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        params = self.trainable_variables
        first = tape.gradient(loss, params)
        scale = self.rho / (tf.linalg.global_norm(first) + 1e-12)
        climb = [g * scale for g in first]

        with tf.GradientTape() as tape:
            sharp_loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        for v, e in zip(params, climb):
            v.assign_add(e)
        second = tape.gradient(sharp_loss, params)
        for v, e in zip(params, climb):
            v.assign_sub(e)
        self.optimizer.apply_gradients(zip(second, params))
        gap = tf.linalg.global_norm([a - b for a, b in zip(first, second)])
        return {"loss": loss, "gap": gap}


rng = np.random.default_rng(0)
x = rng.normal(size=(60, 4)).astype("float32")
y = rng.integers(0, 3, size=(60,))
model = SAMModel()
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
log = model.fit(x, y, batch_size=20, epochs=3, verbose=0).history
print("difference between the plain and the 'sharp' gradient:", log["gap"])
assert max(log["gap"]) == 0.0
